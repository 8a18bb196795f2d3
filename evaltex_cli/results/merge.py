"""Results of runs over disjoint images, brought together: evidence adds up, and scores are
functions of its sums.

If all parts have their images' results (``-a``), totals are summed again from the images, exactly:
they are those of one run over all images, to the last bit. Otherwise the parts' totals are summed.
Counts are exact then too; a sum of floats was rounded once in each part, so it may differ from that
of one run by half a unit in the last place per part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.errors import InputError, quote
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import InputCounts, InputSummary, signature
from evaltex_cli.formats.image_subset import SOME_IMAGES
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load
from evaltex_cli.results import reader
from evaltex_cli.results.result_document import ResultDocument
from evaltex_cli.runtime import outputs
from evaltex_cli.version import __version__

_SIGNED = (
    *("revision", "preset", "masks", "invalid", "dont_care", "min_confidence", "version"),
    *("gt_level", "det_level", "gt_classes", "det_classes"),
)
_SUMMED = (
    "not all parts hold their images' results (-a): sums of floats are of rounded totals, and"
    " images that two parts have in common would not be noticed"
)


class Merged(NamedTuple):
    """What a merge makes."""

    evaluations: list[Evaluation]
    """By each protocol as of one run over the images of all parts, without evidence rows; with
    images if all parts have them."""
    ground_truths: list[str]
    """SHA-256 of the ground truths of all evaluations in it, through merged results too."""
    parts: list[Path]
    is_again: bool
    """Whether an earlier merge into the same folder was given too, and left out."""


def merge(paths: Sequence[Path], target: Path) -> Merged:
    """Merge results, .json files or folders of them.

    A merged result in the `target`, the folder for the new one, is not a part. Raises `InputError`
    when a result cannot be read; when results differ in protocols, parameters, version or options;
    when an image, or a whole ground truth, is in two of them; when the target has a result that the
    new one does not contain.
    """
    given = {file: reader.read(file) for path in paths for file in reader.files(path)}
    there = {}
    if target.is_dir():
        there = {file: reader.read(file, with_images=False) for file in reader.files(target)}
    parts = {
        file: document
        for file, document in given.items()
        if not (document.extras.merged_from and any(map(file.samefile, there)))
    }
    if not parts:
        raise InputError("no result to merge; give results' .json files, or folders that hold some")
    ground_truths = [sha256 for part in parts.values() for sha256 in part.ground_truths]
    for file, document in there.items():
        made = document.extras.merged_from
        if not (made and {*made} <= {*ground_truths}) and not outputs.force.get():
            raise InputError(
                f"{file}: is not merged of these parts, and would be replaced; give another folder"
                " for the merged result, or --force to replace it"
            )
    by_protocol: dict[str, dict[Path, ResultDocument]] = {}
    for file, document in parts.items():
        by_protocol.setdefault(document.protocol, {})[file] = document
    hashes = [sorted(one.gt.sha256 for one in own.values()) for own in by_protocol.values()]
    if any(each != hashes[0] for each in hashes):
        counts = ", ".join(f"{name} of {len(own)}" for name, own in by_protocol.items())
        raise InputError(
            f"the results are not all of the same protocols and ground truths: {counts} results"
        )
    for own in by_protocol.values():
        _refuse_unlike(own)
    return Merged(
        [_merged(by_protocol[name]) for name in PROTOCOLS if name in by_protocol],
        list(dict.fromkeys(ground_truths)),
        list(parts),
        is_again=len(parts) < len(given),
    )


def _refuse_unlike(parts: Mapping[Path, ResultDocument]) -> None:
    """Refuse parts of one protocol that have other settings, or share images."""
    first_file, first = next(iter(parts.items()))
    seen: dict[str, Path] = {}
    for file, part in parts.items():
        for what, value in _setting(part).items():
            expected = _setting(first).get(what)
            if value != expected:
                raise InputError(
                    f"{first_file} and {file} cannot be merged: {what} is {expected} and {value};"
                    " evaluate all parts in the same way"
                )
        is_some = "only" in part.signed and len(part.images) == part.gt.images
        inputs = [] if is_some else [f"ground truth {sha256}" for sha256 in part.ground_truths]
        for key in [*part.table.rows.names, *inputs]:
            if key in seen:
                raise InputError(
                    f"{seen[key]} and {file}: {quote(key)} is in both; give parts without common"
                    " images"
                )
            seen[key] = file


def _setting(document: ResultDocument) -> dict[str, Any]:
    signed = document.signed
    parameters = {f"parameter {name}": value for name, value in document.parameters.items()}
    return {key: signed.get(key) for key in _SIGNED} | parameters


def _merged(own: Mapping[Path, ResultDocument]) -> Evaluation:
    file, first = next(iter(own.items()))
    parts, protocol, signed = list(own.values()), load(first.protocol), first.signed
    if (signed.get("version"), signed.get("revision")) != (__version__, str(protocol.version)):
        raise InputError(
            f"{file}: made by version {signed.get('version')}, revision {signed.get('revision')}"
            f" of {protocol.name}; this is {__version__}, {protocol.version}: evaluate the parts"
            " again, or merge with that"
        )
    parameters = config.checked(protocol.name, first.parameters)
    gt, det = _summary([part.gt for part in parts]), _summary([part.det for part in parts])
    is_complete = all(len(part.images) == part.gt.images for part in parts)
    tallies = [part.table.rows.tally for part in parts if is_complete and part.images]
    if not tallies:
        tallies = [
            protocol.tally.from_columns({name: np.array([n]) for name, n in part.totals.items()})
            for part in parts
        ]
    tally = protocol.tally.concatenate(tallies).sum()
    texts = [text for part in parts for text in part.warnings if not text.endswith(SOME_IMAGES)]
    lines = [part.signed.get("gt_lines", "") for part in parts]
    digest = lines[0] if len(set(lines)) == 1 else _sha256("\n".join(lines))
    return Evaluation(
        protocol,
        parameters,
        signature(protocol, parameters, first.options, gt.images, gt.sha256, digest),
        gt,
        det,
        tally,
        protocol.scores(tally, parameters),
        images=[image for part in parts if is_complete for image in part.images],
        warnings=list(dict.fromkeys([*texts, *([] if is_complete else [_SUMMED])])),
    )


def _summary(parts: Sequence[InputSummary]) -> InputSummary:
    """Counts add up; the hash is that of the lines ``<sha256>  <file>`` of the parts."""
    return InputSummary(
        file=f"{parts[0].file} and {len(parts) - 1} more" if len(parts) > 1 else parts[0].file,
        format=", ".join(dict.fromkeys(part.format for part in parts)),
        sha256=_sha256("".join(f"{part.sha256}  {part.file}\n" for part in parts)),
        **asdict(sum(parts, InputCounts())),
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
