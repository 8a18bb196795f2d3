"""Results of runs over disjoint images, brought together: evidence adds up, and scores are
functions of its sums.

If all parts have their images' results (``-a``), totals are summed again from the images, exactly:
they are those of one run over all images, to the last bit. Otherwise the parts' totals are summed.
Counts are exact then too; a sum of floats was rounded once in each part, so it may differ from that
of one run by half a unit in the last place per part.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from evaltex_cli.errors import InputError, quote
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import InputCounts, InputSummary, signature
from evaltex_cli.formats.image_subset import SOME_IMAGES
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load
from evaltex_cli.results import reader
from evaltex_cli.results.result_document import ResultDocument, differences
from evaltex_cli.runtime import outputs
from evaltex_cli.version import __version__

_SUMMED = (
    "not all parts hold their images' results (-a): sums of floats are of rounded totals, and"
    " images that two parts have in common would not be noticed"
)


def merge(paths: Sequence[Path], target: Path) -> tuple[list[Evaluation], list[Path]]:
    """Merge results, .json files or folders of them. Return an evaluation by each protocol as of
    one run over the images of all parts, without evidence rows, and with images if all parts have
    them; and the parts: all results but an earlier merge of the others in the folder `target`.

    Raises `InputError` when a result cannot be read; when results differ in protocols, parameters,
    version or options; when an image, or a whole ground truth, is in two of them; and when the
    target has a result that is not merged.
    """
    parts = {file: reader.read(file) for path in paths for file in reader.files(path)}
    earlier = {file: parts[file] for file in parts if file.parent.resolve() == target.resolve()}
    others = {sha256 for file in parts.keys() - earlier for sha256 in parts[file].ground_truths}
    for file, part in earlier.items():
        if part.merged_from and others.issuperset(part.merged_from):
            del parts[file]
    for file in reader.files(target) if target.is_dir() and not outputs.force.get() else ():
        if not reader.read(file, with_images=False).merged_from:
            raise InputError(
                f"{file}: is not a merged result, and would be replaced; give another folder for"
                " the merged result, or --force to replace it"
            )
    if not parts:
        raise InputError("no result to merge; give results' .json files, or folders that hold some")
    by_protocol: dict[str, dict[Path, ResultDocument]] = defaultdict(dict)
    for file, part in parts.items():
        by_protocol[part.protocol][file] = part
    hashes = [sorted(part.gt.sha256 for part in own.values()) for own in by_protocol.values()]
    if any(each != hashes[0] for each in hashes):
        counts = ", ".join(f"{name} of {len(own)}" for name, own in by_protocol.items())
        raise InputError(
            f"the results are not all of the same protocols and ground truths: {counts} results"
        )
    for own in by_protocol.values():
        _refuse_unlike(own)
    return [_merged(by_protocol[name]) for name in PROTOCOLS if name in by_protocol], list(parts)


def _refuse_unlike(parts: Mapping[Path, ResultDocument]) -> None:
    """Refuse parts of one protocol that have other settings, or share images."""
    first_file, first = next(iter(parts.items()))
    seen: dict[str, Path] = {}
    for file, part in parts.items():
        for what, expected, value in differences(first, part, are_parts=True):
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
        merged_from=list(dict.fromkeys(sha256 for part in parts for sha256 in part.ground_truths)),
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
