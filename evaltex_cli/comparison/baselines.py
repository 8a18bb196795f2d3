"""Results of earlier runs that gates compare with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evaltex_cli.errors import InputError, quote
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import parts_of
from evaltex_cli.marks import kind_of
from evaltex_cli.results import reader
from evaltex_cli.results.image_table import NO_IMAGES
from evaltex_cli.results.result_document import ResultDocument, differences, of_evaluation
from evaltex_cli.results.slices import QUANTITIES, Slice


@dataclass(frozen=True, slots=True)
class Slices:
    """Recall of slices in an earlier diagnosis: their names in brackets, as verdicts have them."""

    file: Path
    signature: str
    recalls: Mapping[str, float | None]

    def differences(self, evaluation: Evaluation) -> list[str]:
        """What differs from a run, with both values; the version may."""
        then, now = parts_of(self.signature), parts_of(evaluation.signature)
        parts = [
            part
            for part in {**then, **now}
            if part != "version" and then.get(part) != now.get(part)
        ]
        return [
            f"{self.file}: {quote(part)} is {quote(str(then.get(part)))}, here {now.get(part)}"
            for part in parts
        ]


@dataclass(frozen=True, slots=True)
class Before:
    """Earlier results by protocol, without their images; and slices of earlier diagnoses."""

    results: Mapping[str, ResultDocument] = field(default_factory=dict)
    slices: Mapping[str, Slices] = field(default_factory=dict)

    def recalls(self, protocol: str) -> dict[str, float | None]:
        """Recall of slices: those of a diagnosis, and those that earlier gates were of."""
        found = dict(self.slices[protocol].recalls) if protocol in self.slices else {}
        gates = self.results[protocol].extras.gates if protocol in self.results else None
        return found | {
            verdict.score: verdict.value for verdict in gates or () if verdict.score.endswith("]")
        }

    def refuse_others(self, evaluations: Sequence[Evaluation]) -> None:
        """Refuse what was made in another way than a run.

        Raises
        ------
        InputError
            For all that differs, with both values.
        """
        unlike: list[str] = []
        for evaluation in evaluations:
            name = evaluation.protocol.name
            if name in self.results:
                differing = differences(self.results[name], of_evaluation(evaluation, NO_IMAGES))
                unlike += [
                    f"baseline of {name}: {what} is {before}, here {now}"
                    for what, before, now in differing
                ]
            if name in self.slices:
                unlike += self.slices[name].differences(evaluation)
        if unlike:
            raise InputError(
                "\n".join(
                    [*unlike, "a baseline serves only runs made the same way; make a new one"]
                )
            )


def read_baselines(paths: Sequence[Path]) -> Before:
    """Read results of earlier runs and diagnoses; of a folder, all results in it.

    Raises
    ------
    InputError
        When one cannot be read, is neither, or two are of one protocol.
    """
    diagnoses = [path for path in paths if kind_of(path) == "diagnosis"]
    results: dict[str, ResultDocument] = {}
    for file in (file for path in paths if path not in diagnoses for file in reader.files(path)):
        document = reader.read(file)
        if document.protocol in results:
            raise InputError(
                f"{file}: a second baseline of {document.protocol}; give one a protocol"
            )
        results[document.protocol] = replace(document, images=(), table=NO_IMAGES)
    return Before(results, _read_slices(diagnoses))


def _read_slices(paths: Sequence[Path]) -> dict[str, Slices]:
    """What `diagnose --format json` has written, by protocol."""
    found: dict[str, Slices] = {}
    for path in paths:
        for protocol, of_protocol in _slices(path):
            if protocol in found:
                raise InputError(f"{path}: a second diagnosis of {protocol}; give one a protocol")
            found[protocol] = of_protocol
    return found


def _slices(path: Path) -> Iterator[tuple[str, Slices]]:
    try:
        for one in json.loads(path.read_bytes())["protocols"]:
            recalls = {
                f"recall[{Slice(quantity, each['low'], each['high']).name}]": _number(
                    each["recall"]
                )
                for quantity in QUANTITIES
                for each in one["breakdowns"][quantity]
            }
            yield str(one["protocol"]), Slices(path, str(one["signature"]), recalls)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path}: is a damaged diagnosis ({type(error).__name__}); make it again"
        ) from error


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
