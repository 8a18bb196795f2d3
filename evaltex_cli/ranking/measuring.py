"""The evidence that a ranking needs: every detector of a board is evaluated on every data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.evaluate import evaluate_inputs, runs_of
from evaltex_cli.evaluation.inputs import Inputs, open_inputs
from evaltex_cli.progress import tracked
from evaltex_cli.ranking.board import Board
from evaltex_cli.ranking.entry import Entry, Subsets, entry_of
from evaltex_cli.runtime import OrderedMap

Entries: TypeAlias = "dict[str, dict[str, Entry]]"
"""Protocol -> detector -> what it is ranked by."""


def entries_of(board: Board, ordered_map: OrderedMap) -> tuple[dict[str, Entries], list[str]]:
    """Return data set -> its entries, and why protocols are left out.

    Parameters
    ----------
    ordered_map : callable
        What does the work (`workers`).

    Raises
    ------
    InputError
        As `evaluate.evaluate_inputs`, and when no protocol serves all detectors of a data set.
    """
    subsets = Subsets(board.settings.resamples, board.settings.seed)
    given = [(one, label) for one in board.datasets for label in one.detections]
    measured: dict[str, dict[str, dict[str, Entry]]] = {one.name: {} for one in board.datasets}
    for dataset, label in tracked(given, "ranking", "detectors", len(given)):
        inputs = open_inputs(dataset.gt, dataset.detections[label], dataset.options, ordered_map)
        measured[dataset.name][label] = evaluated(inputs, dataset.parameters, subsets, ordered_map)
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


def evaluated(
    inputs: Inputs, protocols: Mapping[str, Any], subsets: Subsets, ordered_map: OrderedMap = map
) -> dict[str, Entry]:
    """Return the entry of each protocol, but of those that need texts that are not there.

    Raises
    ------
    InputError
        As `evaluate.evaluate_inputs`; also if all protocols need texts.
    """
    runs = runs_of(protocols)
    results = {
        one.protocol.name: one for one in evaluate_inputs(inputs, runs, ordered_map=ordered_map)
    }
    return {name: entry_of(results[name], subsets) for name in protocols if name in results}


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
