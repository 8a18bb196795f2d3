"""One small data set, written by hand in every format, ground truth and detections."""

from __future__ import annotations

from pathlib import Path

from engine_samples import engine_samples
from json_samples import json_samples
from line_samples import line_samples
from ocr_samples import ocr_samples
from sample_words import Sample
from tool_samples import tool_samples
from written_files import in_folder
from xml_samples import xml_samples


def written(path: Path, sample: Sample, side: str) -> Path:
    """Write a side as its data set has it: one file of all images, else a folder."""
    files = sample.files(side)
    if sample.many_in_one:
        ((name, content),) = files.items()
        return in_folder(path, {name: content}) / name
    return in_folder(path, files)


SAMPLES = (
    line_samples()
    | xml_samples()
    | json_samples()
    | ocr_samples()
    | engine_samples()
    | tool_samples()
)
