"""The evidence that a ranking needs: taken from the cache, or measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.evaluate import evaluate_inputs, runs_of
from evaltex_cli.evaluation.inputs import Inputs, SameInputs
from evaltex_cli.protocols.base import load
from evaltex_cli.ranking import cache
from evaltex_cli.ranking.board import Board, DataSet
from evaltex_cli.ranking.entry import Entry, Subsets, entry_of
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.runtime.progress import tracked

Entries: TypeAlias = "dict[str, dict[str, Entry]]"
"""Protocol -> detector -> what it is ranked by."""


def entries_of(
    board: Board, folder: Path | None, ordered_map: OrderedMap
) -> tuple[dict[str, Entries], list[str]]:
    """Return data set -> its entries, and why protocols are left out.

    Parameters
    ----------
    folder : Path or None
        Of the cache; a detector's evidence is stored as soon as it is measured, so a ranking that
        was interrupted goes on from there.
    ordered_map : callable
        What does the work (`workers`).

    Raises
    ------
    InputError
        As `evaluate.evaluate_inputs` and `cache.prepare`, and when no protocol serves all detectors
        of a data set.
    """
    cache.prepare(folder, board)
    read, same = cache.Inputs(), {one.name: SameInputs() for one in board.datasets}
    subsets = Subsets(board.settings.resamples, board.settings.seed)
    given = [(one, label) for one in board.datasets for label in one.detections]
    measured: dict[str, dict[str, dict[str, Entry]]] = {one.name: {} for one in board.datasets}
    for dataset, label in tracked(given, "ranking", "detectors", len(given)):
        measured[dataset.name][label] = _of_detector(
            dataset, label, (read, same[dataset.name]), subsets, folder, ordered_map
        )
    found, warnings = {}, []
    for dataset in board.datasets:
        found[dataset.name], left_out = by_protocol(dataset.parameters, measured[dataset.name])
        if not found[dataset.name]:
            raise InputError(
                f"{dataset.name}: no protocol serves all detectors;"
                f" {'; '.join(left_out)}; choose another, such as iou"
            )
        warnings += [f"{dataset.name}: left out: {text}" for text in left_out]
    return found, warnings


def _of_detector(
    dataset: DataSet,
    label: str,
    known_inputs: tuple[cache.Inputs, SameInputs],
    subsets: Subsets,
    folder: Path | None,
    ordered_map: OrderedMap,
) -> dict[str, Entry]:
    """Return protocol -> entry of a detector, of the protocols that its files serve."""
    gt, det = dataset.gt, dataset.detections[label]
    read, same = known_inputs
    keys = {
        name: read.key(gt, det, dataset.options, load(name), parameters, subsets)
        for name, parameters in dataset.parameters.items()
        if folder is not None
    }
    known = {name: found for name, key in keys.items() if (found := cache.find(folder, key))}
    missing = {
        name: parameters for name, parameters in dataset.parameters.items() if name not in known
    }
    if missing:
        inputs = same.open(gt, det, dataset.options, ordered_map)
        made = dict(evaluated(inputs, missing, subsets, ordered_map))
        if folder is not None:
            read.refuse_changed(gt, det, dataset.options)
            for name, entry in made.items():
                cache.add(folder, keys[name], entry)
        known |= made
    return {name: entry for name in dataset.parameters if isinstance(entry := known[name], Entry)}


def evaluated(
    inputs: Inputs, protocols: Mapping[str, Any], subsets: Subsets, ordered_map: OrderedMap = map
) -> Iterator[tuple[str, Entry | cache.LeftOut]]:
    """Yield the entry of each protocol; of one that needs texts that are not there, that it is left
    out.

    Raises
    ------
    InputError
        As `evaluate.evaluate_inputs`; also if all protocols need texts.
    """
    runs = runs_of(protocols, keep_rows=True)
    results = {
        one.protocol.name: one for one in evaluate_inputs(inputs, runs, ordered_map=ordered_map)
    }
    for name in protocols:
        yield name, entry_of(results[name], subsets) if name in results else cache.LeftOut()


def by_protocol(
    protocols: Iterable[str], detectors: Mapping[str, Mapping[str, Entry]]
) -> tuple[Entries, list[str]]:
    """Return the protocols that serve all detectors, and why the others are left out."""
    found: Entries = {}
    left_out = []
    for name in protocols:
        without = [label for label, of_one in detectors.items() if name not in of_one]
        if without:
            left_out.append(f"{name} ({', '.join(without)}: no transcriptions)")
        else:
            found[name] = {label: of_one[name] for label, of_one in detectors.items()}
    return found, left_out
