"""Presets: for each data set the protocol, its parameters and the policy for invalid polygons of its official program.

Only what is not the default of the protocol is listed, so the table shows what the data sets' programs differ in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Preset:
    """The official rules of a data set.

    Attributes
    ----------
    title : str
        The data sets and tasks.
    protocol : str
    source : str
        The program, or the paper, that the rules are those of.
    parameters : mapping
        Parameters of the protocol that are not its defaults.
    invalid : {'repair', 'skip'}
        The policy for invalid polygons.
    """

    title: str
    protocol: str
    source: str
    parameters: Mapping[str, str | float | bool] = field(default_factory=dict)
    invalid: str = "repair"

    @property
    def options(self) -> str:
        """What it is on the command line."""
        parameters = [f"--set {self.protocol}.{key}={str(value).lower()}" for key, value in self.parameters.items()]
        invalid = [] if self.invalid == "repair" else [f"--invalid {self.invalid}"]
        return " ".join([f"--protocol {self.protocol}", *parameters, *invalid])


_RRC = "script of the Robust Reading Competition"
_CURVED = {"truncate": False}
"""The scripts for curved text take coordinates as they are."""

PRESETS: Mapping[str, Preset] = {
    "icdar2003": Preset(
        "ICDAR 2003, text locating", "icdar2003", "S. M. Lucas et al., ICDAR 2003", {"match": "minbox"}
    ),
    "icdar2005": Preset("ICDAR 2005, text locating", "icdar2003", "S. M. Lucas, ICDAR 2005"),
    "icdar2013": Preset("ICDAR 2011 and 2013, focused and born-digital text, localisation", "icdar2013", _RRC),
    "icdar2015": Preset("ICDAR 2015, incidental text, localisation", "iou", _RRC),
    "icdar2015-e2e": Preset("ICDAR 2013 and 2015, end to end without a lexicon", "iou-crw", _RRC),
    "icdar2015-spotting": Preset(
        "ICDAR 2013 and 2015, word spotting without a lexicon", "iou-crw", _RRC, {"word_spotting": True}
    ),
    "coco-text": Preset("COCO-Text (ICDAR 2017), localisation", "iou", _RRC),
    "mlt": Preset("MLT 2017 and 2019, localisation", "iou", _RRC),
    "rects": Preset("ReCTS (ICDAR 2019), line detection", "iou", _RRC),
    "art": Preset("ArT (ICDAR 2019), localisation", "iou", _RRC, _CURVED),
    "lsvt": Preset("LSVT (ICDAR 2019), localisation", "iou", _RRC, _CURVED),
    "totaltext": Preset("Total-Text", "deteval", "the data set's Python script Deteval.py", {"variant": "totaltext"}),
    "ctw1500": Preset(
        "CTW1500 (SCUT-CTW1500)",
        "iou",
        "the data set's Python script voc_eval_polygon",
        _CURVED | {"pairing": "best"},
        "skip",
    ),
    "msra-td500": Preset(
        "MSRA-TD500", "iou", "C. Yao et al., CVPR 2012, in the order of its Python script", {"unrotated": True}
    ),
    "hiertext": Preset("HierText, words", "pq", "S. Long et al., CVPR 2022"),
}
