"""Whether an input is ground truth or detections, from what only one of them
has; most formats look alike on both.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from evaltex_cli import formats
from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.formats.base import ReadImages, Side, Source
from evaltex_cli.formats.files import archive
from evaltex_cli.formats.options import InputOptions

SAMPLE_IMAGES = 300
MOST = 0.95
"""Share of the names of files that have a prefix."""
KINDS: dict[Side, str] = {"gt": "ground truth", "det": "detections"}
ANNOTATIONS = (
    *("icdar-xml", "coco", "coco-text", "coco-text-train", "textocr", "ctw1500-xml"),
    *("ctw1500-offsets", "icdar2013-seg", "icdar2013-seg-chars", "rects", "rects-chars", "dota"),
    *("page", "page-line", "page-region", "labelme", "labelme-xml", "label-studio", "cvat", "via"),
    *("via-csv", "voc", "ufo"),
)
"""Formats of ground truth, if nothing in a file says otherwise."""
RESULTS = ("coco-res", "dota-results")
"""Formats of detections, and so are those of `formats.engines` that are not among `EITHER`."""
ASKED = ("alto", "alto-line")
"""Formats of which neither confidences nor transcriptions are a sign: libraries publish and correct
ALTO with the ``WC`` of their OCR, and some engines write none."""
EITHER = ("paddleocr", "mmocr", "mmocr-lines")
_WORDS: dict[Side, str] = {
    "gt": "gt|groundtruth|truth|labels?|annotations?",
    "det": "det|res|pred|results?|detections?|predictions?|predicts|submit|submission",
}
_PREFIXES = {
    side: re.compile(rf"(?:poly_)?(?:{words})[_.-]", re.IGNORECASE)
    for side, words in _WORDS.items()
}
_PARTS = {
    side: re.compile(rf"(?:.*[^a-z])?(?:{words})(?![a-z])", re.IGNORECASE)
    for side, words in _WORDS.items()
}


def detect(path: Path, options: InputOptions) -> tuple[Side, str]:
    """Return what an input is, and the sign of it as a phrase.

    Raises
    ------
    InputError
        When it can be read as neither, or has no sign of either.
    """
    sources: dict[Side, Source] = {}
    samples: dict[Side, ReadImages] = {}
    errors: list[InputError] = []
    for side in KINDS:
        try:
            sources[side], samples[side] = _sample(path, side, options)
        except InputError as error:
            errors.append(error)
    if not samples:
        raise errors[0]
    if len(samples) == 1:
        (side,) = samples
        return side, "what can be read: nothing else fits"
    name = sources["gt"].format
    found = (
        _by_names(path)
        or _by_dont_care(samples["gt"])
        or _by_objects(samples, name)
        or _by_format(name)
    )
    if found is None:
        raise InputError(f"{path}: may be ground truth or detections; give --kind gt or --kind det")
    return found


def _sample(path: Path, side: Side, options: InputOptions) -> tuple[Source, ReadImages]:
    faults = FaultLog()
    source = formats.open_source(path, side, faults, options.format_of(side))
    images = source.part(np.arange(min(len(source.names), SAMPLE_IMAGES))).read_in_any_unit()
    faults.extend(images.faults)
    faults.raise_if_any()
    return source, images


def _by_names(path: Path) -> tuple[Side, str] | None:
    """Return what almost all files of a folder or archive are called, or what
    is in its own name.
    """
    listed = archive.names(path) if archive.is_archive(path) else []
    names = [name.rpartition("/")[2] for name in listed]
    for side, prefix in _PREFIXES.items():
        marked = [name for name in names if prefix.match(name)]
        if marked and len(marked) >= MOST * len(names):
            return side, f"names of files such as {quote(marked[0])}"
    own = [side for side, part in _PARTS.items() if part.match(path.name)]
    return (own[0], f"its name {quote(path.name)}") if len(own) == 1 else None


def _by_dont_care(gt: ReadImages) -> tuple[Side, str] | None:
    return ("gt", "its don't-care objects") if gt.objects.dont_care.any() else None


def _by_format(name: str) -> tuple[Side, str] | None:
    sign = f"its format {name}"
    if name in ANNOTATIONS:
        return "gt", sign
    is_engine = formats.FORMATS[name][0].startswith("evaltex_cli.formats.engines.")
    return ("det", sign) if name in RESULTS or (is_engine and name not in EITHER) else None


def _by_objects(samples: dict[Side, ReadImages], name: str) -> tuple[Side, str] | None:
    if name in ASKED:
        return None
    confidences = samples["det"].objects.confidences
    if confidences is not None and not np.isnan(confidences).any():
        return "det", "its confidences"
    is_text = any(samples["gt"].objects.texts) and _by_format(name) is None
    return ("gt", "its transcriptions") if is_text else None
