"""The results of one detector: evaluated, or read from a result folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaltex_cli.errors import InputError, quote
from evaltex_cli.evaluation.evaluate import Sink, evaluate_inputs, runs_of
from evaltex_cli.evaluation.inputs import Inputs, open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import EvidenceRows, Protocol, Scores, load
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.results import reader
from evaltex_cli.results.image_table import ImageTable, joined, table_of
from evaltex_cli.results.result_document import ResultDocument, of_evaluation
from evaltex_cli.runtime import OrderedMap


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """One protocol's result of one detector."""

    label: str
    """The detector's name."""
    protocol: Protocol
    parameters: Any
    document: ResultDocument
    rows: EvidenceRows
    """Each image's evidence, in the ground truth's order."""

    @property
    def table(self) -> ImageTable:
        """Each image's scores and objects, in the ground truth's order."""
        return self.document.table

    def score(self, tally: Tally) -> Scores:
        """Score summed evidence."""
        return self.protocol.scores(tally, self.parameters)


def evaluated(
    inputs: Inputs,
    label: str,
    protocols: Mapping[str, Any],
    ordered_map: OrderedMap = map,
) -> list[System]:
    """Evaluate a detector by several protocols.

    Parameters
    ----------
    inputs : Inputs
        Boxes and polygons, or label pictures.
    protocols : mapping
        Name -> parameters record.
    ordered_map : callable
        What does the work (`workers`).

    Raises
    ------
    InputError
        As `evaluate.evaluate`.
    """
    runs = runs_of(protocols)
    tables: dict[str, list[ImageTable]] = {run.protocol.name: [] for run in runs}
    sink = Sink(table_of, lambda run, table: tables[run.protocol.name].append(table))
    return [
        _system(label, of_evaluation(result, joined(tables.pop(result.protocol.name))))
        for result in evaluate_inputs(inputs, runs, [sink], ordered_map=ordered_map)
    ]


def systems_of(
    path: Path,
    label: str,
    gt: Path,
    options: InputOptions,
    protocols: Mapping[str, Any],
    ordered_map: OrderedMap,
) -> list[System]:
    """Read the results of a detector, or evaluate its detections; raises as
    `stored` and `evaluated`.
    """
    if is_result(path):
        return stored(path, label)
    return evaluated(open_inputs(gt, path, options, ordered_map), label, protocols, ordered_map)


def is_result(path: Path) -> bool:
    """Whether a path is a result's .json or a folder with one, rather than detections."""
    return any(reader.is_document(file) for file in reader.files(path))


def stored(path: Path, label: str) -> list[System]:
    """Read the results of an earlier run.

    Parameters
    ----------
    path : Path
        A result's .json, or a folder of them.

    Raises
    ------
    InputError
        When one is no result, or was made without ``-a`` and so has no images.
    """
    files = (file for file in reader.files(path) if not path.is_dir() or reader.is_document(file))
    return [of_document(file, reader.read(file), label) for file in files]


def of_document(file: Path, document: ResultDocument, label: str) -> System:
    """Return a detector's result that was read from a file.

    Raises
    ------
    InputError
        When it is damaged, or was made without ``-a`` and so has no results of images.
    """
    if not document.table.rows.names:
        raise InputError(f"{file}: holds no images' results; run that evaluation again with -a")
    reader.refuse_unknown(file, document)
    try:
        return _system(label, document)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{file}: is a damaged result ({quote(str(error))}); make it again"
        ) from error


def _system(label: str, document: ResultDocument) -> System:
    protocol, objects = load(document.protocol), document.table.objects
    parameters = config.checked(protocol.name, document.parameters)
    if len(objects.ids):
        protocol.object_credit(
            objects.types[:1], {name: values[:1] for name, values in objects.values.items()}
        )
    return System(label, protocol, parameters, document, document.table.rows.typed(protocol.tally))
