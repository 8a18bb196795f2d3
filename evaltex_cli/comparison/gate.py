"""Gates: conditions on scores under which a run counts as failed. One
function decides; everything else shows it.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from evaltex_cli.comparison.baselines import Before, read_baselines
from evaltex_cli.errors import ConfigError
from evaltex_cli.errors.suggestions import number_meant
from evaltex_cli.evaluation.evaluate import Run, of_nothing
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.marks import comment
from evaltex_cli.protocols import plain, score_names
from evaltex_cli.results import slices
from evaltex_cli.results.extras import Verdict

_NUMBER = r"[\d.]+(?:e[-+]?\d+)?"
_EXPRESSION = re.compile(
    r"\s*(?:(?P<protocol>[\w-]+)\s*\.\s*)?(?P<score>[a-z][\w-]*)\s*(?:\[(?P<slice>[^]]*)\]\s*)?"
    rf"(?:(?P<operator><=|>=|<|>)\s*(?P<threshold>[-+]?\s*{_NUMBER})"
    rf"|:\s*(?P<change>[-+]\s*{_NUMBER})\s*(?P<percent>%?))\s*",
    re.IGNORECASE | re.ASCII,
)
_IN_PERCENT = re.compile(r"\s*([^<>]{1,100}[<>]=?\s*)([\d.,]{1,20}\s*%)\s*", re.ASCII)
_FORMS = (
    "SCORE<VALUE (also <=, >, >=), or against a baseline SCORE:-CHANGE or SCORE:-PERCENT%, with"
    " PROTOCOL. before it; recall[height<16] is that of a slice"
)
TOLERANCE = 1e-12
"""A score this close to a limit is at it: the difference is rounding."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition as the user wrote it: the run fails where it is true.

    With an `operator`, `limit` is what the score is compared with. Without one it is how far the
    score may be from the baseline's, below it if negative, above it if positive; in per cent of the
    baseline's value if `percent`. A gate on a `slice` is of the recall of some objects
    (`results.slices`).
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


def parse(expression: str) -> Gate:
    """Parse one ``--fail-if``.

    Raises
    ------
    ConfigError
        When it has none of the known forms.
    """
    parts = _EXPRESSION.fullmatch(expression)
    if parts is None:
        raise ConfigError(f"--fail-if {expression}: {_limit_in_percent(expression)}{_FORMS}")
    try:
        number = float("".join((parts["threshold"] or parts["change"]).split()))
    except ValueError as error:
        raise ConfigError(f"--fail-if {expression}: malformed number; expected {_FORMS}") from error
    name = None
    if parts["slice"] is not None:
        try:
            if score_names.same(parts["score"]) != "recall":
                raise ConfigError(f"a slice has no {parts['score']}; expected recall")
            name = slices.parse(parts["slice"]).name
        except ConfigError as error:
            raise ConfigError(f"--fail-if {expression}: {error}") from error
    protocol = parts["protocol"] and plain(parts["protocol"])
    return Gate(
        expression,
        protocol,
        parts["score"],
        parts["operator"],
        number,
        parts["percent"] == "%",
        name,
    )


def _limit_in_percent(expression: str) -> str:
    """Begin what is expected instead of an expression; a limit in percent has its own hint."""
    parts = _IN_PERCENT.fullmatch(expression)
    meant = parts and number_meant(parts[2], 0, 1)
    if parts is None or meant is None:
        return "expected "
    return f"only a change is in percent; write {parts[1]}{meant:g}; expected "


Recalls: TypeAlias = Mapping[str, Mapping[str, float | None]]
"""Protocol -> name of a slice -> its recall."""


@dataclass(frozen=True, slots=True)
class Gates:
    """All gates of a run, what they compare with, and by protocol the slices that they are of."""

    gates: list[Gate]
    before: Before
    slices: Mapping[str, list[str]]

    def verdicts(self, evaluations: Sequence[Evaluation], recalls: Recalls) -> list[Verdict]:
        """Decide every gate; raises as `verdicts` and `Before.refuse_others`."""
        self.before.refuse_others(evaluations)
        return verdicts(self.gates, evaluations, self.before, recalls)

    @staticmethod
    def junit(verdicts: Sequence[Verdict]) -> str:
        """Return verdicts as JUnit XML, which every CI server shows: one test
        suite, one test case per gate.
        """
        failed = sum(not verdict.passed for verdict in verdicts)
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', comment("junit")]
        lines.append(
            f'<testsuites><testsuite name="evaltex" tests="{len(verdicts)}" failures="{failed}"'
            ' errors="0">'
        )
        for verdict in verdicts:
            case = (
                f'<testcase classname="evaltex.{verdict.protocol}"'
                f' name="{html.escape(verdict.expression)}"'
            )
            failure = f'><failure message="{html.escape(str(verdict))}"/></testcase>'
            lines.append(case + ("/>" if verdict.passed else failure))
        lines.append("</testsuite></testsuites>")
        return "\n".join(lines) + "\n"


def prepare(
    expressions: Sequence[str],
    baselines: Sequence[Path],
    runs: Sequence[Run],
) -> Gates:
    """Return the gates of a run, and refuse before any work what can be refused then.

    Parameters
    ----------
    expressions : sequence of str
        As of ``--fail-if``.
    baselines : sequence of Path
        Results of earlier runs.

    Raises
    ------
    ConfigError, InputError
    """
    gates = [parse(expression) for expression in expressions]
    before = read_baselines(baselines)
    if not gates:
        return Gates(gates, before, {})
    nothing = {run.protocol.name: of_nothing(run) for run in runs}
    of_slices: dict[str, list[str]] = {}
    for gate in gates:
        name = _protocol(gate, list(nothing))
        _refuse_pointless(gate, nothing[name], before)
        if gate.slice is not None:
            of_slices.setdefault(name, []).append(gate.slice)
    return Gates(gates, before, of_slices)


def verdicts(
    gates: Sequence[Gate], evaluations: Sequence[Evaluation], before: Before, recalls: Recalls
) -> list[Verdict]:
    """Decide every gate.

    Parameters
    ----------
    gates : sequence of Gate
    evaluations : sequence of Evaluation
        One for each protocol.
    before : Before
        Earlier results.
    recalls : mapping
        Of the slices that gates name.

    Returns
    -------
    list of Verdict
        In the gates' order. An undefined score fails.

    Raises
    ------
    ConfigError
        For a protocol that is not in the run, an unknown score, or a gate that needs a baseline
        which is not there.
    """
    by_name = {evaluation.protocol.name: evaluation for evaluation in evaluations}
    found = []
    for gate in gates:
        name = _protocol(gate, list(by_name))
        scores = by_name[name].scores
        own = _resolved(gate, name, scores)
        value = scores[own] if gate.slice is None else recalls[name][gate.slice]
        _, _, base = _limit(gate, by_name[name], before)
        shown = own if gate.slice is None else gate.shown
        found.append(decided(gate, name, shown, value, base))
    return found


def _limit(gate: Gate, evaluation: Evaluation, before: Before) -> tuple[str, float, float | None]:
    """Operator and limit of a gate, and the score of the baseline if it compares with one."""
    if gate.operator is not None:
        return gate.operator, gate.limit, None
    protocol = evaluation.protocol
    resolved = _resolved(gate, protocol.name, evaluation.scores)
    if not gate.percent and abs(gate.limit) >= 1 and resolved not in score_names.UNBOUNDED:
        hint = (
            f"did you mean {gate.limit:+g}%?" if abs(gate.limit) < 100 else "expected less than 1"
        )
        raise ConfigError(
            f"--fail-if {gate.expression}: {resolved} is from 0 to 1, so it cannot change by 1;"
            f" {hint}"
        )
    if gate.percent and gate.limit <= -100:
        raise ConfigError(
            f"--fail-if {gate.expression}: no result can fail this gate: no score falls by 100 % or"
            " more"
        )
    base = _before(gate, protocol.name, before)
    if base is None:
        raise ConfigError(f"--fail-if {gate.expression}: {gate.shown} is undefined in the baseline")
    return *_limit_from(gate, base), base


def _limit_from(gate: Gate, base: float) -> tuple[str, float]:
    """Operator and limit of a gate that compares with this value of a baseline."""
    limit = base + (abs(base) * gate.limit / 100 if gate.percent else gate.limit)
    falls = gate.expression.rpartition(":")[2].strip().startswith("-")
    return "<" if falls else ">", limit


def decided(
    gate: Gate, protocol: str, score: str, value: float | None, base: float | None
) -> Verdict:
    """Decide a gate on a value; `base` is that of the baseline, None if the gate has an operator.

    An undefined value fails.
    """
    operator, limit = (gate.operator, gate.limit) if base is None else _limit_from(gate, base)
    failed = value is None or _compare(value, operator or "<", limit)
    return Verdict(gate.expression, protocol, score, value, base, limit, not failed)


def _before(gate: Gate, protocol: str, before: Before) -> float | None:
    """The score, or the recall of the slice, in the baseline."""
    lead = f"--fail-if {gate.expression}: "
    if gate.slice is None:
        if protocol not in before.results:
            raise ConfigError(
                f"{lead}needs a baseline of {protocol}; give one by --baseline RESULT.json"
            )
        scores = before.results[protocol].scores
        value: float | None = scores[_resolved(gate, protocol, scores)]
        return value
    recalls = before.recalls(protocol)
    if not recalls:
        advice = (
            "give --baseline DIAGNOSIS.json, made by `evaltex diagnose GT DET --format json"
            " --output DIAGNOSIS.json`"
        )
        raise ConfigError(f"{lead}needs a baseline of {protocol} with slices; {advice}")
    if gate.shown not in recalls:
        raise ConfigError(f"{lead}the baseline has no {gate.shown}; it has {', '.join(recalls)}")
    return recalls[gate.shown]


def _refuse_pointless(gate: Gate, nothing: Evaluation, before: Before) -> None:
    """Refuse, before any work, a gate that cannot be decided, or that says nothing; raises as
    `verdicts`.
    """
    name = nothing.protocol.name
    is_share = _resolved(gate, name, nothing.scores) not in score_names.UNBOUNDED
    operator, limit, base = _limit(gate, nothing, before)
    bounds = (0.0, 1.0 if is_share else math.inf)
    refuse_impossible(gate, gate.shown, bounds, operator, limit, base)


def refuse_impossible(
    gate: Gate,
    shown: str,
    bounds: tuple[float, float],
    operator: str,
    limit: float,
    base: float | None = None,
) -> None:
    """Refuse a gate that no result can fail, and one that every result fails.

    Parameters
    ----------
    shown : str
        The score's name in the message.
    bounds : (float, float)
        The least and the greatest value of the score.
    base : float, optional
        The baseline's value, if the limit is of it.

    Raises
    ------
    ConfigError
        With the score's range.
    """
    low, high = bounds
    fails = {_compare(value, operator, limit) for value in bounds}
    if len(fails) == 2:
        return
    values = f"from {low:g} to {high:g}" if high < math.inf else f"never below {low:g}"
    what = "every result fails this gate" if True in fails else "no result can fail this gate"
    meant = number_meant(f"{limit:g}", *bounds) if True in fails else None
    against = "" if base is None else f" (the baseline's is {base:.6g})"
    raise ConfigError(
        f"--fail-if {gate.expression}: {what}: {shown} is {values}"
        + (
            f", and it fails if it is {operator} {limit:.6g}{against}"
            if meant is None
            else f" (did you mean {meant:g}?)"
        )
    )


def _compare(value: float, operator: str, limit: float) -> bool:
    if abs(value - limit) <= TOLERANCE:
        return operator in ("<=", ">=")
    return value < limit if operator.startswith("<") else value > limit


def _protocol(gate: Gate, names: Sequence[str]) -> str:
    """The protocol of a run that a gate is of."""
    name = names[0] if gate.protocol is None and len(names) == 1 else gate.protocol or "evaltex"
    if name not in names:
        expected = f"one of {', '.join(names)}"
        raise ConfigError(
            f"--fail-if {gate.expression}: protocol {name} is not in this run; expected {expected}"
        )
    return name


def _resolved(gate: Gate, protocol: str, scores: Mapping[str, Any]) -> str:
    """The protocol's own name of the score."""
    try:
        return score_names.resolve(gate.score, score_names.scalars(scores))
    except ConfigError as error:
        raise ConfigError(f"--fail-if {gate.expression}: {error} (scores of {protocol})") from error
