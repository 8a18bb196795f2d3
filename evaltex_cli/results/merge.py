"""Results of runs over disjoint images, brought together: evidence adds up, and scores are
functions of its sums.

If all parts have their images' results (``-a``), totals are summed again from the images, exactly:
they are those of one run over all images, to the last bit. Otherwise the parts' totals are summed.
Counts are exact then too; a sum of floats was rounded once in each part, so it may differ from that
of one run by half a unit in the last place per part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import InputError, counted, quote
from evaltex_cli.evaluation.evaluate import Run
from evaltex_cli.evaluation.evaluation import Evaluation, ImageResult
from evaltex_cli.evaluation.inputs import InputCounts, InputSummary, signature
from evaltex_cli.formats.image_subset import SOME_IMAGES
from evaltex_cli.progress import tracked
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load
from evaltex_cli.results import reader
from evaltex_cli.results.result_document import ResultDocument
from evaltex_cli.results.writer import ImageFiles, of_images
from evaltex_cli.runtime import outputs
from evaltex_cli.version import __version__

IMAGES_AT_ONCE = 64
_SIGNED = (
    *("revision", "preset", "masks", "invalid", "dont_care", "min_confidence", "version"),
    *("gt_level", "det_level", "gt_classes", "det_classes"),
)


@dataclass(frozen=True, slots=True)
class Merged:
    """One protocol's results of all parts."""

    evaluation: Evaluation
    """As of one run over the images of all parts; without evidence rows."""
    images: list[Sequence[ImageResult]]
    """One per part, in their order; empty unless all parts have them."""
    ground_truths: list[str]
    """SHA-256 of the ground truths of all evaluations that are in it, through merged results too.
    """

    @property
    def run(self) -> Run:
        """The run that would have made it."""
        return Run(self.evaluation.protocol, self.evaluation.parameters)


def results_in(paths: Sequence[Path], target: Path) -> list[Path]:
    """Return those of the results that are in the folder `target`."""
    files = [file for path in paths for file in reader.files(path)]
    return [file for file in files if target.is_dir() and file.parent.samefile(target)]


def merge(paths: Sequence[Path], target: Path | None = None) -> list[Merged]:
    """Merge results, .json files or folders of them; return one for each protocol.

    Results in the `target`, the folder for the merged results, are not parts: they are of an
    earlier merge. Raises `InputError` when a result cannot be read; when results differ in
    protocols, parameters, version or options; when an image, or a whole ground truth, is in two of
    them; when what is in the target would be lost.
    """
    files = [file for path in paths for file in reader.files(path)]
    earlier = results_in(paths, target) if target else []
    files = [file for file in files if file not in earlier]
    documents: dict[str, list[tuple[Path, ResultDocument]]] = {}
    for file in files:
        document = reader.read(file)
        reader.refuse_unknown(file, document)
        documents.setdefault(document.protocol, []).append((file, document))
    if not documents:
        raise InputError("no result to merge; give results' .json files, or folders that hold some")
    merged = []
    try:
        if target is not None:
            _refuse_loss(
                target, earlier, [document for parts in documents.values() for _, document in parts]
            )
        hashes = {
            name: [one.inputs.gt.sha256 for _, one in parts] for name, parts in documents.items()
        }
        if len({tuple(sorted(hashed)) for hashed in hashes.values()}) > 1:
            counts = ", ".join(f"{name} of {len(parts)}" for name, parts in documents.items())
            raise InputError(
                f"the results are not all of the same protocols and ground truths: {counts} results"
            )
        for name in sorted(documents, key=list(PROTOCOLS).index):
            _refuse_unlike(documents[name])
            merged.append(_merged(documents[name]))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"a result is damaged ({quote(str(error))}); make it again") from error
    return merged


def _refuse_loss(target: Path, earlier: Sequence[Path], parts: Sequence[ResultDocument]) -> None:
    """Refuse to replace an evaluation, or a merged result that has more than
    the parts and is given as one.
    """
    present = {sha256 for part in parts for sha256 in part.ground_truths}
    given = {file.name for file in earlier}
    for file in reader.files(target) if target.is_dir() else ():
        document = reader.read(file)
        is_merged = document.extras.merged_from is not None
        if file.name in given and not is_merged:
            raise InputError(
                f"{file}: is a part, and the merged result would replace it; give another result"
                " folder"
            )
        if outputs.force.get():
            continue
        if not is_merged:
            raise InputError(
                f"{file}: is an evaluation's result and would be replaced; give the folder of the"
                " merged result last, or --force to replace it"
            )
        lost = [sha256 for sha256 in document.ground_truths if sha256 not in present]
        if file.name in given and lost:
            more = counted(len(lost), "{count} ground truth[s]")
            raise InputError(
                f"{file}: was merged from {more} that no other part has; give another result"
                " folder, or --force to leave it out and replace it"
            )


def _refuse_unlike(parts: Sequence[tuple[Path, ResultDocument]]) -> None:
    """Refuse parts that are not of one protocol in one setting, or share images."""
    (first_file, first), *rest = parts
    expected = _setting(first)
    for file, part in rest:
        setting = _setting(part)
        for what, value in expected.items():
            if setting.get(what) != value:
                raise InputError(
                    f"{first_file} and {file} cannot be merged: {what} is {value} and"
                    f" {setting.get(what)};"
                    " evaluate all parts in the same way"
                )
    seen: dict[str, Path] = {}
    for file, part in parts:
        is_some = "only" in part.signed and len(part.images) == part.inputs.gt.images
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
    return {key: signed.get(key) for key in _SIGNED} | {
        f"parameter {name}": value for name, value in document.parameters.items()
    }


def _merged(parts: Sequence[tuple[Path, ResultDocument]]) -> Merged:
    first = parts[0][1]
    protocol, setting = load(first.protocol), _setting(first)
    if setting["version"] != __version__ or setting["revision"] != str(protocol.version):
        raise InputError(
            f"{parts[0][0]}: made by version {setting['version']}, revision {setting['revision']}"
            f" of {protocol.name}; this is {__version__}, {protocol.version}: evaluate the parts"
            " again, or merge with that"
        )
    parameters = config.checked(protocol.name, first.parameters)
    gt, det = (
        _summary([getattr(part.inputs, side) for _, part in parts]) for side in ("gt", "det")
    )
    complete = all(len(part.images) == part.inputs.gt.images for _, part in parts)
    images = [part.images for _, part in parts] if complete else []
    columns = [part.table.rows.columns for _, part in parts if complete and part.images]
    columns = columns or [_row(part) for _, part in parts]
    tally = protocol.tally.concatenate(list(map(protocol.tally.from_columns, columns))).sum()
    warnings = [
        warning
        for _, part in parts
        for warning in part.warnings
        if not warning.endswith(SOME_IMAGES)
    ]
    if not complete:
        warnings.append(
            "not all parts hold their images' results (-a): sums of floats are of rounded totals,"
            " and images that two parts have in common would not be noticed"
        )
    lines = _digest_of_lines([part for _, part in parts])
    signed = signature(protocol, parameters, first.options, gt.images, gt.sha256, lines)
    scores = protocol.scores(tally, parameters)
    distinct = list(dict.fromkeys(warnings))
    evaluation = Evaluation(protocol, parameters, signed, gt, det, tally, scores, warnings=distinct)
    ground_truths = [sha256 for _, part in parts for sha256 in part.ground_truths]
    return Merged(evaluation, images, list(dict.fromkeys(ground_truths)))


def _digest_of_lines(parts: Sequence[ResultDocument]) -> str:
    """Digits that stand for the ground truths of lines of all parts: those
    that all have, or a hash of all.
    """
    digits = [part.signed.get("gt_lines", "") for part in parts]
    return (
        digits[0]
        if len(set(digits)) == 1
        else hashlib.sha256("\n".join(digits).encode()).hexdigest()
    )


def _row(part: ResultDocument) -> dict[str, NDArray[Any]]:
    return {name: np.array([value]) for name, value in part.totals.items()}


def _summary(parts: Sequence[InputSummary]) -> InputSummary:
    """Counts add up; the hash is that of the lines ``<sha256>  <file>`` of
    the parts, in their order.
    """
    listing = "".join(f"{part.sha256}  {part.file}\n" for part in parts)
    formats = list(dict.fromkeys(part.format for part in parts))
    return InputSummary(
        file=f"{parts[0].file} and {len(parts) - 1} more" if len(parts) > 1 else parts[0].file,
        format=", ".join(formats),
        sha256=hashlib.sha256(listing.encode("utf-8", "replace")).hexdigest(),
        **asdict(sum(parts, InputCounts())),
    )


def files_of_images(merged: Merged) -> Iterator[ImageFiles]:
    """Yield what the result files say of the images, some images at a time; raises `InputError`
    when a value is missing.
    """
    in_all = sum(map(len, merged.images))
    every = (image for of_part in merged.images for image in of_part)
    images = tracked(every, f"writing {merged.evaluation.protocol.name}", "images", in_all)
    try:
        while batch := list(islice(images, IMAGES_AT_ONCE)):
            yield of_images(merged.run, batch)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"a result of {merged.evaluation.protocol.name} is damaged (images:"
            f" {quote(str(error))}); make it again"
        ) from error
