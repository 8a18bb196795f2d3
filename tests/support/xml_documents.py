"""One small document of each XML format of one image a file, and what is read from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaltex_cli import old_formats as formats
from evaltex_cli.errors import FaultLog
from evaltex_cli.old_formats.base import Side, Source
from evaltex_cli.records import Objects

PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Metadata><Creator>somebody</Creator></Metadata>
  <Page imageFilename="page_1.tif" imageWidth="640" imageHeight="480">
    <TableRegion id="t"><TextRegion id="r1">
      <Coords points="0,0 300,0 300,90 0,90"/>
      <TextLine id="l1">
        <Coords points="0,0 300,0 300,40 0,40"/>
        <Word id="w1">
          <Coords points="0,0 99.5,0 99.5,40 0,40" conf="0.5"/>
          <Glyph id="g"><Coords points="0,0 9,0 9,40 0,40"/><TextEquiv><Unicode>T</Unicode></TextEquiv></Glyph>
          <TextEquiv index="1"><Unicode>Tw0</Unicode></TextEquiv>
          <TextEquiv index="0" conf="0.9"><Unicode>Two &amp; &#233;</Unicode></TextEquiv>
        </Word>
        <Word id="w2"><Coords points="110,0 300,0 300,40 110,40"/></Word>
        <TextEquiv><Unicode>Two words</Unicode></TextEquiv>
      </TextLine>
      <TextLine id="l2">
        <Coords points="0,50 300,50 300,90 0,90"/>
        <Word id="w3"><Coords>
          <Point x="0" y="50"/><Point x="300" y="50"/><Point x="300" y="90"/><Point x="0" y="90"/>
        </Coords><TextEquiv conf="0.25"><Unicode>three</Unicode></TextEquiv></Word>
      </TextLine>
    </TextRegion></TableRegion>
    <ImageRegion id="i"><Coords points="400,0 500,0 500,90"/></ImageRegion>
  </Page>
</PcGts>
"""
ALTO = """<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v3#">
  <Description>
    <MeasurementUnit>pixel</MeasurementUnit>
    <OCRProcessing ID="p"><ocrProcessingStep>
      <processingStepSettings>none</processingStepSettings>
    </ocrProcessingStep></OCRProcessing>
  </Description>
  <Layout><Page ID="p1" WIDTH="640" HEIGHT="480"><PrintSpace><TextBlock ID="b1">
    <TextLine ID="l1" HPOS="0" VPOS="0" WIDTH="300" HEIGHT="40">
      <String ID="s1" HPOS="0" VPOS="0" WIDTH="99.5" HEIGHT="40" CONTENT="Two" WC="0.5"/><SP WIDTH="10"/>
      <String ID="s2" HPOS="110" VPOS="0" WIDTH="190" HEIGHT="40" CONTENT="words">
        <Shape><Polygon POINTS="110,0 300,0 300,40 110,38.5"/></Shape>
      </String>
    </TextLine>
    <TextLine ID="l2" HPOS="0" VPOS="50" WIDTH="300" HEIGHT="40">
      <String ID="s3" HPOS="0" VPOS="50" WIDTH="300" HEIGHT="40" CONTENT="three" WC="1"/>
    </TextLine>
  </TextBlock></PrintSpace></Page></Layout>
</alto>
"""
VOC = """<annotation>
  <folder>images</folder>
  <filename>other.jpg</filename>
  <size><width>640</width><height>480</height><depth>3</depth></size>
  <object>
    <name>text</name>
    <difficult>0</difficult>
    <bndbox><xmin>10</xmin><ymin>20.5</ymin><xmax>110</xmax><ymax>50</ymax></bndbox>
  </object>
  <object>
    <name>text</name>
    <difficult>1</difficult>
    <bndbox><xmax>30</xmax><xmin>200</xmin><ymin>5</ymin><ymax>9</ymax></bndbox>
  </object>
  <object><name>text</name><bndbox><xmin>1</xmin><ymin>100</ymin><xmax>9</xmax><ymax>150</ymax></bndbox></object>
</annotation>
""".replace("<xmax>30</xmax><xmin>200</xmin>", "<xmax>230</xmax><xmin>200</xmin>")
CTW1500 = """<Annotations>
 <image file="0200.jpg">
  <box height="20" left="10" top="30" width="90">
   <label>ÉCOLE</label>
   <segs>10,30,40,30,70,35,100,30,100,50,70,50,40,45,10,50</segs>
   <pts x="20" y="40" />
  </box>
  <box height="20" left="10" top="90" width="90"><label>###</label><segs>10,90,100,90,100,110,10,110</segs></box>
  <box height="20" left="10" top="190" width="90"><label>box</label></box>
 </image>
</Annotations>
"""
SAMPLES = {"page": PAGE, "alto": ALTO, "voc": VOC, "ctw1500-xml": CTW1500}


class Read:
    """What came of an input."""

    def __init__(self, path: Path, side: Side = "gt", format_name: str | None = None) -> None:
        log = FaultLog()
        self.source: Source = formats.open_source(path, side, log, format_name)
        self.images = self.source.read(np.arange(len(self.source.names)))
        log.extend(self.images.faults)
        self.objects: Objects = self.images.objects
        self.texts = list(self.objects.texts)
        self.warnings = [warning.removeprefix(str(path)) for warning in self.source.warnings]
        self.faults = [str(fault).removeprefix(str(path)) for fault in log.shown]
