"""Presets: what each data set's official program is, where it differs from the defaults; and `ocr`,
the usual rules for the output of an OCR engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Preset(NamedTuple):
    """The rules of a data set, or of a task."""

    title: str
    """The data sets and tasks."""
    protocol: str
    source: str
    """The program, or the paper, that the rules are those of."""
    gt_formats: tuple[str, ...]
    det_formats: tuple[str, ...]
    """`gt_formats` and `det_formats`: the formats of the official ground truth, and those that
    detections are submitted in. They decide where lines of numbers can be read as several formats.
    """
    parameters: Mapping[str, str | float | bool] = {}
    """Parameters of the protocol that are not its defaults."""
    level: str | None = None
    """The level that both sides are read at; None for the finest that the input has."""
    invalid: str = "repair"
    """'repair' or 'skip'. The policy for invalid polygons."""
    sorts_for_average_precision: bool = True
    """Whether the script, if it computes average precision, sorts the detections of an image by
    confidence before it pairs them."""
    is_official: bool = True
    """Whether these are the rules of a program, of which no parameter may be changed."""

    @property
    def options(self) -> str:
        """What it is on the command line."""
        options = [f"--protocol {self.protocol}"]
        for key, value in self.parameters.items():
            options.append(f"--set {self.protocol}.{key}={str(value).lower()}")
        if self.level:
            options.append(f"--gt-level {self.level} --det-level {self.level}")
        if self.invalid != "repair":
            options.append(f"--invalid {self.invalid}")
        return " ".join(options)

    @property
    def levels(self) -> Mapping[str, Any]:
        """The levels that both sides are read at, as options of reading."""
        return {"gt_level": self.level, "det_level": self.level} if self.level else {}


# Sources, with the formats of both sides where several presets have them.
_RRC = "script of the Robust Reading Competition"
_WORDS = _RRC, ("quad", "ltrb"), ("quad", "ltrb")
_ART = _RRC, ("art",), ("art",)
_HIERTEXT = "S. Long et al., CVPR 2022", ("hiertext",), ("hiertext",)
_XML, _BOXES, _QUADS, _POLYGONS = ("icdar-xml",), ("ltrb",), ("quad",), ("polygon", "quad")

# No script normalises texts, those for curved text take coordinates as they are, and HierText's
# lines and paragraphs are unions of the pixels of their words.
_AS_READ, _CURVED = {"normalisation": "none"}, {"truncate": False}
_ON_PIXELS = _AS_READ | {"objects": "regions", "areas": "pixels"}

PRESETS: Mapping[str, Preset] = {
    "ocr": Preset(
        "OCR engines on your own data: words, CER and WER",
        "iou-crw",
        "the usual definitions of CER and WER, on pairs with an IoU above 0.5",
        gt_formats=(),
        det_formats=(),
        parameters={
            "truncate": False,
            "strip": "none",
            "case_sensitive": True,
            "error_rates": True,
        },
        is_official=False,
    ),
    "icdar2003": Preset(
        "ICDAR 2003, text locating",
        "icdar2003",
        "S. M. Lucas et al., ICDAR 2003",
        *(_XML, _XML, {"match": "minbox"}),
    ),
    "icdar2005": Preset(
        "ICDAR 2005, text locating", "icdar2003", "S. M. Lucas, ICDAR 2005", _XML, _XML
    ),
    "icdar2013": Preset(
        "ICDAR 2011 and 2013, focused and born-digital text", "icdar2013", _RRC, _BOXES, _BOXES
    ),
    "icdar2015": Preset("ICDAR 2015, incidental text, localisation", "iou", _RRC, _QUADS, _QUADS),
    "icdar2015-e2e": Preset(
        "ICDAR 2013 and 2015, end to end without a lexicon", "iou-crw", *_WORDS, _AS_READ
    ),
    "icdar2015-spotting": Preset(
        "ICDAR 2013 and 2015, word spotting without a lexicon",
        "iou-crw",
        *(*_WORDS, _AS_READ | {"word_spotting": True}),
    ),
    "coco-text": Preset(
        "COCO-Text (ICDAR 2017), localisation", "iou", _RRC, ("coco-text", "ltrb"), _BOXES
    ),
    "mlt": Preset(
        "MLT 2017 and 2019, localisation",
        "iou",
        *(_RRC, ("mlt",), _QUADS),
        sorts_for_average_precision=False,
    ),
    "rects": Preset("ReCTS (ICDAR 2019), line detection", "iou", _RRC, ("rects",), _QUADS),
    "art": Preset("ArT (ICDAR 2019), localisation", "iou", *_ART, _CURVED),
    "lsvt": Preset("LSVT (ICDAR 2019), localisation", "iou", *_ART, _CURVED),
    "totaltext": Preset(
        "Total-Text",
        "deteval",
        "the data set's Python script Deteval.py",
        *(("totaltext", "totaltext-mat"), _POLYGONS, {"variant": "totaltext"}),
    ),
    "ctw1500": Preset(
        "CTW1500 (SCUT-CTW1500)",
        "iou",
        "the data set's Python script voc_eval_polygon",
        *(("ctw1500-xml", "ctw1500-offsets", "polygon"), _POLYGONS),
        _CURVED | {"pairing": "best"},
        invalid="skip",
    ),
    "msra-td500": Preset(
        "MSRA-TD500",
        "iou",
        "C. Yao et al., CVPR 2012, in the order of its Python script",
        *(("msra-td500",), ("msra-td500",), {"unrotated": True}),
    ),
    "hiertext": Preset("HierText, words", "pq", *_HIERTEXT, _AS_READ),
    "hiertext-line": Preset("HierText, lines", "pq", *_HIERTEXT, _ON_PIXELS, level="line-words"),
    "hiertext-paragraph": Preset(
        "HierText, paragraphs", "pq", *_HIERTEXT, _ON_PIXELS, level="paragraph-words"
    ),
}
