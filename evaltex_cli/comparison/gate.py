"""Gates: conditions on scores under which a run counts as failed. One function decides; everything else shows it."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.evaluation.accumulator import Accumulator
from evaltex_cli.evaluation.tally import Evaluation, Run
from evaltex_cli.protocols import score_names
from evaltex_cli.results import reader
from evaltex_cli.results.image_table import NO_IMAGES
from evaltex_cli.results.result_document import ResultDocument, Verdict, differences, of_evaluation

_EXPRESSION = re.compile(
    r"\s*(?:(?P<protocol>[\w-]+)\.)?(?P<score>[\w-]+)\s*"
    r"(?:(?P<operator><=|>=|<|>)\s*(?P<threshold>[-+]?[\d.]+(?:e[-+]?\d+)?)"
    r"|:\s*(?P<change>[-+][\d.]+(?:e[-+]?\d+)?)(?P<percent>%?))\s*",
    re.IGNORECASE | re.ASCII,
)
_FORMS = (
    "SCORE<VALUE (also <=, >, >=), or against a baseline SCORE:-CHANGE or SCORE:-PERCENT%, with PROTOCOL. before it"
)
TOLERANCE = 1e-12
"""A score this close to a limit is at it: the difference is rounding."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition as the user wrote it: the run fails where it is true.

    With an `operator`, `limit` is what the score is compared with. Without one it is how far the score may be from
    the baseline's, below it if negative, above it if positive; in per cent of the baseline's value if `percent`.
    """

    expression: str
    protocol: str | None
    score: str
    operator: str | None
    limit: float
    percent: bool


def parse(expression: str) -> Gate:
    """Parse one ``--fail-if``.

    Raises
    ------
    ConfigError
        When it has none of the known forms.
    """
    parts = _EXPRESSION.fullmatch(expression)
    if parts is None:
        raise ConfigError(f"--fail-if {expression}: expected {_FORMS}")
    try:
        number = float(parts["threshold"] or parts["change"])
    except ValueError as error:
        raise ConfigError(f"--fail-if {expression}: malformed number; expected {_FORMS}") from error
    return Gate(expression, parts["protocol"], parts["score"], parts["operator"], number, parts["percent"] == "%")


@dataclass(frozen=True, slots=True)
class Gates:
    """All gates of a run, and the earlier results, by protocol, that they compare with."""

    gates: list[Gate]
    baselines: Mapping[str, ResultDocument]

    def verdicts(self, evaluations: Sequence[Evaluation]) -> list[Verdict]:
        """Decide every gate; raises as `verdicts` and `refuse_other_baselines`."""
        refuse_other_baselines(evaluations, self.baselines)
        return verdicts(self.gates, evaluations, self.baselines)

    @staticmethod
    def junit(verdicts: Sequence[Verdict]) -> str:
        """Return verdicts as JUnit XML, which every CI server shows: one test suite, one test case per gate."""
        failed = sum(not verdict.passed for verdict in verdicts)
        lines = ['<?xml version="1.0" encoding="UTF-8"?>']
        lines.append(f'<testsuites><testsuite name="evaltex" tests="{len(verdicts)}" failures="{failed}" errors="0">')
        for verdict in verdicts:
            case = f'<testcase classname="evaltex.{verdict.protocol}" name="{html.escape(verdict.expression)}"'
            failure = f'><failure message="{html.escape(str(verdict))}"/></testcase>'
            lines.append(case + ("/>" if verdict.passed else failure))
        lines.append("</testsuite></testsuites>")
        return "\n".join(lines) + "\n"


def prepare(
    expressions: Sequence[str], baselines: Sequence[Path], replaced: Sequence[Path], runs: Sequence[Run]
) -> Gates:
    """Return the gates of a run, and refuse before any work what can be refused then.

    Parameters
    ----------
    expressions : sequence of str
        As of ``--fail-if``.
    baselines, replaced : sequence of Path
        Results of earlier runs, and the files that this run replaces.

    Raises
    ------
    ConfigError, InputError
    """
    prepared = Gates([parse(expression) for expression in expressions], read_baselines(baselines))
    refuse_replaced_baselines(baselines, replaced)
    refuse_undecidable(prepared.gates, runs, prepared.baselines)
    return prepared


def verdicts(
    gates: Sequence[Gate], evaluations: Sequence[Evaluation], baselines: Mapping[str, ResultDocument]
) -> list[Verdict]:
    """Decide every gate.

    Parameters
    ----------
    gates : sequence of Gate
    evaluations : sequence of Evaluation
        One a protocol.
    baselines : mapping
        Protocol -> earlier result (`read_baselines`).

    Returns
    -------
    list of Verdict
        In the gates' order. An undefined score fails.

    Raises
    ------
    ConfigError
        For a protocol that is not in the run, an unknown score, or a gate that needs a baseline which is not there.
    """
    by_name = {evaluation.protocol.name: evaluation for evaluation in evaluations}
    return [_verdict(gate, by_name, baselines) for gate in gates]


def refuse_undecidable(gates: Sequence[Gate], runs: Sequence[Run], baselines: Mapping[str, ResultDocument]) -> None:
    """Refuse, before any work, gates that no result of the runs could decide; raises as `verdicts`."""
    if not gates:
        return
    nothing = [Accumulator(run.protocol.name, **asdict(run.parameters)).compute() for run in runs]
    verdicts(gates, nothing, baselines)


def _verdict(gate: Gate, evaluations: Mapping[str, Evaluation], baselines: Mapping[str, ResultDocument]) -> Verdict:
    evaluation = _evaluation(gate, evaluations)
    name = evaluation.protocol.name
    value = _score(gate, name, evaluation.scores)
    if gate.operator is not None:
        failed = value is None or _compare(value, gate.operator, gate.limit)
        return Verdict(gate.expression, name, gate.score, value, None, gate.limit, not failed)
    if name not in baselines:
        raise ConfigError(
            f"--fail-if {gate.expression}: needs a baseline of {name}; give one by --baseline RESULT.json"
        )
    base = _score(gate, name, baselines[name].scores)
    if base is None:
        raise ConfigError(f"--fail-if {gate.expression}: {gate.score} is undefined in the baseline")
    limit = base + (abs(base) * gate.limit / 100 if gate.percent else gate.limit)
    operator = "<" if gate.expression.partition(":")[2].strip().startswith("-") else ">"
    failed = value is None or _compare(value, operator, limit)
    return Verdict(gate.expression, name, gate.score, value, base, limit, not failed)


def _compare(value: float, operator: str, limit: float) -> bool:
    if abs(value - limit) <= TOLERANCE:
        return operator in ("<=", ">=")
    return value < limit if operator.startswith("<") else value > limit


def _evaluation(gate: Gate, evaluations: Mapping[str, Evaluation]) -> Evaluation:
    if gate.protocol is None and len(evaluations) == 1:
        return next(iter(evaluations.values()))
    name = gate.protocol or "evaltex"
    if name not in evaluations:
        expected = f"one of {', '.join(evaluations)}"
        raise ConfigError(f"--fail-if {gate.expression}: protocol {name} is not in this run; expected {expected}")
    return evaluations[name]


def _score(gate: Gate, protocol: str, scores: Mapping[str, Any]) -> float | None:
    try:
        value: float | None = scores[score_names.resolve(gate.score, score_names.scalars(scores))]
    except ConfigError as error:
        raise ConfigError(f"--fail-if {gate.expression}: {error} (scores of {protocol})") from error
    return value


def read_baselines(paths: Sequence[Path]) -> dict[str, ResultDocument]:
    """Read results of earlier runs, by protocol, without their images; of a folder, all results in it.

    Raises
    ------
    InputError
        When one cannot be read, is no result of this tool, or two are of one protocol.
    """
    files = [file for path in paths for file in reader.files(path)]
    baselines: dict[str, ResultDocument] = {}
    for file in files:
        document = reader.read(file)
        if document.protocol in baselines:
            raise InputError(f"{file}: a second baseline of {document.protocol}; give one a protocol")
        baselines[document.protocol] = replace(document, images=(), table=NO_IMAGES)
    return baselines


def refuse_replaced_baselines(paths: Sequence[Path], replaced: Sequence[Path]) -> None:
    """Refuse a baseline that this run would replace: it would be its own baseline the next time.

    Raises
    ------
    InputError
    """
    places = {place.resolve() for place in replaced}
    for file in (file for path in paths for file in reader.files(path)):
        if file.resolve() in places:
            raise InputError(f"{file}: is a baseline, and this run would replace it; give another result folder")


def refuse_other_baselines(evaluations: Sequence[Evaluation], baselines: Mapping[str, ResultDocument]) -> None:
    """Refuse a baseline that was made in another way than this run.

    Raises
    ------
    InputError
        For all that differs, with both values.
    """
    unlike = []
    for evaluation in evaluations:
        name = evaluation.protocol.name
        if name in baselines:
            differing = differences(baselines[name], of_evaluation(evaluation))
            unlike += [f"baseline of {name}: {what} is {before}, here {now}" for what, before, now in differing]
    if unlike:
        raise InputError("\n".join([*unlike, "a baseline serves only runs made the same way; make a new one"]))
