"""Gates: conditions on scores under which a run, or a sweep, counts as failed.

A gate is ``SCORE<VALUE``, or, against the result of an earlier run, ``SCORE:-CHANGE``. Gates of a
sweep apply to its operating point (``PROTOCOL.SCORE`` or ``sweep.SCORE``) or to its cross-validated
scores (``crossval.SCORE``); ``optimism`` and ``level`` count as scores.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.evaluation.evaluate import Run, score_nothing
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import parts_of
from evaltex_cli.protocols import plain, score_names
from evaltex_cli.results import reader, slices
from evaltex_cli.results.extras import Verdict
from evaltex_cli.results.image_table import NO_IMAGES
from evaltex_cli.results.result_document import ResultDocument, differences, of_evaluation
from evaltex_cli.results.slices import QUANTITIES, Slice
from evaltex_cli.runtime.marks import comment, kind_of

_NUMBER = r"[\d.]+(?:e[-+]?\d+)?"
_EXPRESSION = re.compile(
    r"\s*(?:(?P<protocol>[\w-]+)\s*\.\s*)?(?P<score>[a-z][\w-]*)\s*(?:\[(?P<slice>[^]]*)\]\s*)?"
    rf"(?:(?P<operator><=|>=|<|>)\s*(?P<threshold>[-+]?\s*{_NUMBER})"
    rf"|:\s*(?P<change>[-+]\s*{_NUMBER})\s*(?P<percent>%?))\s*",
    re.IGNORECASE | re.ASCII,
)
_FORMS = (
    "SCORE<VALUE (also <=, >, >=), or against a baseline SCORE:-CHANGE or SCORE:-PERCENT%, with"
    " PROTOCOL. before it; recall[height<16] is that of a slice"
)
_SAME = "a baseline serves only runs made the same way; make a new one"
_SWEEP_FILE = "sweep.json"
_PARTS = {"sweep": "operating_point", "crossval": "cross_validated"}
TOLERANCE = 1e-12
"""A score this close to a limit is at it: the difference is rounding."""
Recalls: TypeAlias = Mapping[str, Mapping[str, float | None]]
"""Protocol -> name of a slice -> its recall."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition as the user wrote it: the run fails where it is true.

    With an `operator`, `limit` is what the score is compared with. Without an operator, `limit` is
    how far the score may be from the baseline's: below it if negative, above it if positive; in per
    cent of the baseline's value if `percent`. With a `slice` the score is the recall of some
    objects (`results.slices`).
    """

    expression: str
    protocol: str | None
    score: str
    operator: str | None
    limit: float
    percent: bool
    slice: str | None = None

    @property
    def shown(self) -> str:
        """The score, or the recall of the slice."""
        return self.score if self.slice is None else f"recall[{self.slice}]"

    def error(self, message: str) -> ConfigError:
        """Return the error that something is wrong with this gate."""
        return ConfigError(f"--fail-if {self.expression}: {message}")

    def resolve(self, protocol: str, scores: Sequence[str]) -> str:
        """Return the protocol's own name of the score; raises `ConfigError` if it has none."""
        try:
            return score_names.resolve(self.score, scores)
        except ConfigError as error:
            raise self.error(f"{error} (scores of {protocol})") from error

    def check(self, shown: str, low: float, high: float) -> None:
        """Refuse a change that a score in this range cannot have, and a limit that no result or
        every result passes; raises `ConfigError`.
        """
        if self.operator is None:
            if not self.percent and abs(self.limit) >= 1 and high == 1:
                meant = f"did you mean {self.limit:+g}%?" if abs(self.limit) < 100 else ""
                raise self.error(
                    f"{shown} is from {low:g} to 1, so it cannot change by 1;"
                    f" {meant or 'expected less than 1'}"
                )
            return
        fails = {_is_beyond(value, self.operator, self.limit) for value in (low, high)}
        if len(fails) == 2:
            return
        values = f"from {low:g} to {high:g}" if high < math.inf else f"never below {low:g}"
        what = "every result fails this gate" if True in fails else "no result can fail this gate"
        fails_if = f"and it fails if it is {self.operator} {self.limit:.6g}"
        raise self.error(f"{what}: {shown} is {values}, {fails_if}")

    def verdict(
        self, protocol: str, score: str, value: float | None, base: float | None
    ) -> Verdict:
        """Decide on a value, against that of the baseline if there is no operator; an undefined
        value fails.
        """
        if self.operator is not None:
            operator, limit = self.operator, self.limit
        elif base is None:
            raise self.error(f"{score} is undefined in the baseline")
        else:
            falls = self.expression.rpartition(":")[2].strip().startswith("-")
            operator = "<" if falls else ">"
            limit = base + (abs(base) * self.limit / 100 if self.percent else self.limit)
        failed = value is None or _is_beyond(value, operator, limit)
        return Verdict(self.expression, protocol, score, value, base, limit, not failed)


def _is_beyond(value: float, operator: str, limit: float) -> bool:
    if abs(value - limit) <= TOLERANCE:
        return operator in ("<=", ">=")
    return value < limit if operator.startswith("<") else value > limit


def parse(expression: str) -> Gate:
    """Parse one ``--fail-if``; raises `ConfigError` if it has none of the known forms."""
    parts = _EXPRESSION.fullmatch(expression)
    lead = f"--fail-if {expression}: "
    if parts is None:
        raise ConfigError(f"{lead}expected {_FORMS}")
    try:
        number = float("".join((parts["threshold"] or parts["change"]).split()))
    except ValueError as error:
        raise ConfigError(f"{lead}malformed number; expected {_FORMS}") from error
    name = None
    if parts["slice"] is not None:
        if score_names.same(parts["score"]) != "recall":
            raise ConfigError(f"{lead}a slice has no {parts['score']}; expected recall")
        try:
            name = slices.parse(parts["slice"]).name
        except ConfigError as error:
            raise ConfigError(f"{lead}{error}") from error
    protocol = parts["protocol"] and plain(parts["protocol"])
    is_percent = parts["percent"] == "%"
    return Gate(expression, protocol, parts["score"], parts["operator"], number, is_percent, name)


def junit(verdicts: Sequence[Verdict]) -> str:
    """Return verdicts as JUnit XML, which every CI server shows: a test case for each gate."""
    failed = sum(not verdict.passed for verdict in verdicts)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', comment("junit")]
    lines.append(
        f'<testsuites><testsuite name="evaltex" tests="{len(verdicts)}" failures="{failed}"'
        ' errors="0">'
    )
    for verdict in verdicts:
        name = html.escape(verdict.expression)
        case = f'<testcase classname="evaltex.{verdict.protocol}" name="{name}"'
        failure = f'><failure message="{html.escape(str(verdict))}"/></testcase>'
        lines.append(case + ("/>" if verdict.passed else failure))
    return "\n".join([*lines, "</testsuite></testsuites>"]) + "\n"


# Runs ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunGates:
    """The gates of a run, and by protocol the results and diagnoses of earlier runs.

    `slices` names the slices that gates need; `diagnoses` has the signature and the recalls of the
    slices.
    """

    gates: Sequence[Gate] = ()
    results: Mapping[str, ResultDocument] = field(default_factory=dict)
    diagnoses: Mapping[str, tuple[str, Mapping[str, float | None]]] = field(default_factory=dict)
    slices: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def verdicts(self, evaluations: Sequence[Evaluation], recalls: Recalls) -> list[Verdict]:
        """Decide every gate, in their order.

        Raises
        ------
        InputError
            When the run was made in another way than the baseline.
        ConfigError
            For a protocol that is not in the run, an unknown score, and a missing baseline.
        """
        by_name = {one.protocol.name: one for one in evaluations}
        if unlike := [line for one in evaluations for line in self._unlike(one)]:
            raise InputError("\n".join([*unlike, _SAME]))
        verdicts = []
        for gate in self.gates:
            name = _protocol(gate, list(by_name))
            scores = by_name[name].scores
            own = gate.resolve(name, score_names.scalars(scores))
            value = scores[own] if gate.slice is None else recalls[name][gate.slice]
            shown = own if gate.slice is None else gate.shown
            verdicts.append(gate.verdict(name, shown, value, self.base(gate, name)))
        return verdicts

    def _unlike(self, evaluation: Evaluation) -> Iterator[str]:
        """Yield what differs between a run and its baseline, with both values."""
        name = evaluation.protocol.name
        if name in self.results:
            now = of_evaluation(evaluation, NO_IMAGES)
            for what, before, here in differences(self.results[name], now):
                yield f"baseline of {name}: {what} is {before}, here {here}"
        if name in self.diagnoses:
            yield from _unlike_signatures(name, self.diagnoses[name][0], evaluation.signature)

    def base(self, gate: Gate, protocol: str) -> float | None:
        """Return the baseline's score that a gate compares with, or its recall of the slice."""
        if gate.operator is not None:
            return None
        document = self.results.get(protocol)
        if gate.slice is None:
            if document is None:
                raise gate.error(
                    f"needs a baseline of {protocol}; give one by --baseline RESULT.json"
                )
            own = gate.resolve(protocol, score_names.scalars(document.scores))
            value: float | None = document.scores[own]
            return value
        _, recalls = self.diagnoses.get(protocol, ("", {}))
        earlier = (document.extras.gates or ()) if document else ()
        recalls = dict(recalls) | {
            one.score: one.value for one in earlier if one.score.endswith("]")
        }
        if not recalls:
            raise gate.error(
                f"needs a baseline of {protocol} with slices; give --baseline DIAGNOSIS.json, made"
                " by `evaltex diagnose GT DET --format json --output DIAGNOSIS.json`"
            )
        if gate.shown not in recalls:
            raise gate.error(f"the baseline has no {gate.shown}; it has {', '.join(recalls)}")
        return recalls[gate.shown]


def prepare(expressions: Sequence[str], baselines: Sequence[Path], runs: Sequence[Run]) -> RunGates:
    """Return the gates of a run, and refuse before any work what can be refused then.

    `baselines` are results and diagnoses of earlier runs, or folders of results. Raises
    `ConfigError` for gates, `InputError` for baselines that cannot be read.
    """
    results: dict[str, ResultDocument] = {}
    diagnoses: dict[str, tuple[str, Mapping[str, float | None]]] = {}
    for path in baselines:
        if kind_of(path) == "diagnosis":
            for protocol, signature, recalls in _read_diagnosis(path):
                if protocol in diagnoses:
                    raise InputError(f"{path}: a second diagnosis of {protocol}; give one only")
                diagnoses[protocol] = signature, recalls
            continue
        for file in reader.files(path):
            document = reader.read(file, with_images=False)
            if document.protocol in results:
                raise InputError(f"{file}: a second baseline of {document.protocol}; give one only")
            results[document.protocol] = document
    gates = [parse(expression) for expression in expressions]
    by_slice: dict[str, list[str]] = {}
    prepared = RunGates(gates, results, diagnoses, by_slice)
    for gate in gates:
        name = _protocol(gate, [run.protocol.name for run in runs])
        run = next(run for run in runs if run.protocol.name == name)
        own = gate.resolve(name, score_names.scalars(score_nothing(run).scores))
        gate.check(
            own if gate.slice is None else gate.shown,
            0.0,
            math.inf if own in score_names.UNBOUNDED else 1.0,
        )
        gate.verdict(name, gate.shown, None, prepared.base(gate, name))  # refuses a missing one
        if gate.slice is not None:
            by_slice.setdefault(name, []).append(gate.slice)
    return prepared


def _protocol(gate: Gate, names: Sequence[str]) -> str:
    """Return the protocol of a run to which a gate applies."""
    name = names[0] if gate.protocol is None and len(names) == 1 else gate.protocol or "evaltex"
    if name not in names:
        expected = ", ".join(names)
        raise gate.error(f"protocol {name} is not in this run; expected one of {expected}")
    return name


def _read_diagnosis(path: Path) -> list[tuple[str, str, dict[str, float | None]]]:
    """Return protocol, signature and recalls of slices in what `diagnose --format json` wrote."""
    try:
        return [
            (
                str(one["protocol"]),
                str(one["signature"]),
                {
                    f"recall[{Slice(quantity, each['low'], each['high']).name}]": each["recall"]
                    for quantity in QUANTITIES
                    for each in one["breakdowns"][quantity]
                },
            )
            for one in json.loads(path.read_bytes())["protocols"]
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path}: is a damaged diagnosis ({type(error).__name__}); make it again"
        ) from error


def _unlike_signatures(protocol: str, then: str, now: str) -> Iterator[str]:
    """Yield the parts in which two signatures differ; the version may."""
    before, here = parts_of(then), parts_of(now)
    for part in {**before, **here}:
        if part != "version" and before.get(part) != here.get(part):
            was = quote(str(before.get(part)))
            yield f"baseline of {protocol}: {quote(part)} is {was}, here {here.get(part)}"


# Sweeps -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SweepGates:
    """The gates of a sweep, and by protocol the members of earlier sweeps."""

    gates: Sequence[Gate]
    before: Mapping[str, Any]

    def verdicts(self, sweeps: Sequence[Any]) -> list[Verdict]:
        """Decide every gate on these `thresholds.result.Sweep`s; raises as `RunGates.verdicts`."""
        by_name = {one.protocol: one for one in sweeps}
        unlike = [
            line
            for name, one in by_name.items()
            if name in self.before
            for line in _unlike_signatures(name, self.before[name]["signature"], one.signature)
        ]
        if unlike:
            raise InputError("\n".join([*unlike, _SAME]))
        verdicts = []
        for gate in self.gates:
            part, name = _part(gate, list(by_name))
            scores = _scores(by_name[name].to_dict(), part)
            own = gate.resolve(name, list(scores))
            high = math.inf if own in score_names.UNBOUNDED else 1.0
            gate.check(own, -1.0 if own == "optimism" else 0.0, high)
            base = None
            if gate.operator is None:
                if name not in self.before:
                    raise gate.error(
                        f"needs an earlier sweep of {name}; give one by --baseline {_SWEEP_FILE}"
                    )
                base = _scores(self.before[name], part).get(own)
            verdicts.append(gate.verdict(f"{name} {part}", own, scores[own], base))
        return verdicts


def prepare_sweep(expressions: Sequence[str], baselines: Sequence[Path]) -> SweepGates:
    """Return the gates of a sweep before any work; raises as `prepare`."""
    gates = [parse(expression) for expression in expressions]
    for gate in gates:
        if gate.slice is not None:
            raise gate.error("a sweep has no slices")
    before: dict[str, Any] = {}
    for path in baselines:
        before |= _read_sweep(path / _SWEEP_FILE if path.is_dir() else path)
    return SweepGates(gates, before)


def _read_sweep(file: Path) -> dict[str, Any]:
    """Return protocol -> its members in a sweep.json."""
    expected = f"the {_SWEEP_FILE} of an earlier sweep"
    try:
        document = json.loads(file.read_bytes())
        if document["kind"] != "sweep":
            raise ValueError("another kind of output")
        for members in document["protocols"].values():
            parts_of(members["signature"])
            for part in _PARTS:
                _scores(members, part)
        return dict(document["protocols"])
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{file}: cannot be read ({reason}); expected {expected}") from error
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise InputError(f"{file}: is not {expected} ({error}); make it again") from error


def _part(gate: Gate, names: Sequence[str]) -> tuple[str, str]:
    """Return the part of a sweep, and the protocol, to which a gate applies."""
    if gate.protocol is not None and gate.protocol in names:
        return "sweep", gate.protocol
    if gate.protocol is not None and gate.protocol not in _PARTS:
        expected = ", ".join([*_PARTS, *names])
        raise gate.error(f"{quote(gate.protocol)} is not in this sweep; expected one of {expected}")
    if len(names) > 1:
        raise gate.error(
            f"there are several protocols; name one, as in {names[0]}.{gate.score}, or give one by"
            " --protocol"
        )
    return gate.protocol or "sweep", names[0]


def _scores(members: Mapping[str, Any], part: str) -> dict[str, Any]:
    """Return the scores in a sweep's JSON that gates on one of its parts may name."""
    point, checked = members["operating_point"], members["cross_validated"] or {}
    more = {"level": point["level"]} if part == "sweep" else {}
    scores = (members[_PARTS[part]] or {"scores": {}})["scores"]
    return {**scores, **more, "optimism": checked.get("optimism")}
