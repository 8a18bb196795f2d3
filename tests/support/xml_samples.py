"""The small data set in XML documents."""

from __future__ import annotations

from sample_words import (
    FOUND,
    SIZES,
    WORDS,
    Box,
    Sample,
    comma,
    corners,
    curve,
    each,
    flat,
    found_of,
    words_of,
)

ICDAR_XML = """<?xml version="1.0" encoding="UTF-8"?>
<tagset>
  <image>
    <imageName>1</imageName>
    <resolution x="640" y="480"/>
    <taggedRectangles>
      <taggedRectangle x="10" y="10" width="51" height="21"><tag>one</tag></taggedRectangle>
      <taggedRectangle x="70" y="10" width="51" height="21"><tag>two, 2</tag></taggedRectangle>
    </taggedRectangles>
  </image>
  <image>
    <imageName>2</imageName>
    <resolution x="320" y="240"/>
    <taggedRectangles>
      <taggedRectangle x="20" y="20" width="81" height="21"><tag>three</tag></taggedRectangle>
    </taggedRectangles>
  </image>
</tagset>
"""
ICDAR_XML_DET = """<tagset>
  <image><imageName>1</imageName><taggedRectangles>
    <taggedRectangle x="10" y="10" width="51" height="21"/>
    <taggedRectangle x="200" y="200" width="61" height="21"/>
    <taggedRectangle x="10" y="50" width="51" height="21"/>
  </taggedRectangles></image>
  <image><imageName>2</imageName><taggedRectangles>
    <taggedRectangle x="200" y="100" width="41" height="21"/>
  </taggedRectangles></image>
</tagset>
"""


def page(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """PAGE-XML of one word a line."""
    width, height = size
    made = "".join(
        f"""    <TextLine id="l{k}"><Coords points="{points}"/>
      <Word id="w{k}"><Coords points="{points}"{f' conf="{confidence}"' if confidence else ""}/>
        <TextEquiv><Unicode>{text}</Unicode></TextEquiv></Word>
      <TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>
"""
        for k, (box, text, confidence) in enumerate(objects, 1)
        for points in [" ".join(comma(point) for point in corners(box))]
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Page imageFilename="x.tif" imageWidth="{width}" imageHeight="{height}"><TextRegion id="r">
    <Coords points="0,0 {width},0 {width},{height} 0,{height}"/>
{made}  </TextRegion></Page>
</PcGts>
"""


def alto(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """ALTO of one word a line, in pixels."""
    width, height = size
    made = "".join(
        f"""    <TextLine HPOS="{x0}" VPOS="{y0}" WIDTH="{x1 - x0}" HEIGHT="{y1 - y0}">
      <String HPOS="{x0}" VPOS="{y0}" WIDTH="{x1 - x0}" HEIGHT="{y1 - y0}" CONTENT="{text}"{wc}/></TextLine>
"""
        for (x0, y0, x1, y1), text, confidence in objects
        for wc in [f' WC="{confidence}"' if confidence else ""]
    )
    return f"""<alto xmlns="http://www.loc.gov/standards/alto/ns-v3#">
  <Description><MeasurementUnit>pixel</MeasurementUnit></Description>
  <Layout><Page WIDTH="{width}" HEIGHT="{height}"><PrintSpace><TextBlock>
{made}  </TextBlock></PrintSpace></Page></Layout>
</alto>
"""


def alto_mm(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """The same in 1/10 mm, scanned at 254 dpi, where that is a pixel."""
    step = (
        "<OCRProcessing><ocrProcessingStep><processingStepSettings>254 dpi</processingStepSettings>"
    )
    unit = f"<MeasurementUnit>mm10</MeasurementUnit>{step}</ocrProcessingStep></OCRProcessing>"
    return alto(size, objects).replace("<MeasurementUnit>pixel</MeasurementUnit>", unit)


def voc(size: tuple[int, int], objects: list[tuple[Box, bool]]) -> str:
    width, height = size
    made = "".join(
        f"""  <object><name>text</name><difficult>{int(difficult)}</difficult>
    <bndbox><xmin>{x0}</xmin><ymin>{y0}</ymin><xmax>{x1}</xmax><ymax>{y1}</ymax></bndbox></object>
"""
        for (x0, y0, x1, y1), difficult in objects
    )
    return f"""<annotation>
  <size><width>{width}</width><height>{height}</height><depth>3</depth></size>
{made}</annotation>
"""


def ctw1500_xml(objects: list[tuple[Box, str]]) -> str:
    made = "".join(
        f"""  <box height="{y1 - y0}" left="{x0}" top="{y0}" width="{x1 - x0}"><label>{text}</label>
   <segs>{comma(flat(curve((x0, y0, x1, y1))))}</segs></box>
"""
        for (x0, y0, x1, y1), text in objects
    )
    return f"<Annotations>\n <image>\n{made} </image>\n</Annotations>\n"


def xml_samples() -> dict[str, Sample]:
    """The XML documents of data sets."""
    made = {
        "icdar2003-xml": Sample(
            {"gt.xml": ICDAR_XML}, {"det.xml": ICDAR_XML_DET}, has_dont_care=False, many_in_one=True
        ),
        "ctw1500-xml": Sample(
            each("{}.xml", lambda k: ctw1500_xml(WORDS[k])),
            each("{}.xml", lambda k: ctw1500_xml([(box, "x") for box, _ in FOUND[k]])),
        ),
        "voc": Sample(
            each(
                "{}.xml", lambda k: voc(SIZES[k], [(box, text == "###") for box, text in WORDS[k]])
            ),
            each("{}.xml", lambda k: voc(SIZES[k], [(box, False) for box, _ in FOUND[k]])),
        ),
    }
    for name, form in {
        "page": page,
        "page-line": page,
        "alto": alto,
        "alto-line": alto,
        "alto-mm10": alto_mm,
    }.items():
        made[name] = Sample(
            each("{}.xml", lambda k, form=form: form(SIZES[k], words_of(k))),
            each("{}.xml", lambda k, form=form: form(SIZES[k], found_of(k))),
            level="line" if name.endswith("-line") else None,
            has_dont_care=False,
            has_confidences=name in ("page", "alto", "alto-mm10"),
        )
    return made
