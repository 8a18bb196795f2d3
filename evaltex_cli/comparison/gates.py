"""Gates: conditions on scores under which a run, or a sweep, counts as failed.

A gate is ``SCORE<VALUE``, or ``SCORE:-CHANGE`` against an earlier run, its baseline. It applies to
a `Subject`: a protocol of a run (``PROTOCOL.SCORE``), or a sweep's operating point
(``sweep.SCORE``) or cross-validation (``crossval.SCORE``).
"""

from __future__ import annotations

import html
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.evaluation.evaluate import Run, score_nothing
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.extras import Verdict
from evaltex_cli.evaluation.inputs import parts_of
from evaltex_cli.protocols import PROTOCOLS, plain
from evaltex_cli.protocols.score_names import UNBOUNDED, resolve, same, scalars
from evaltex_cli.results import reader, slices
from evaltex_cli.results.slices import QUANTITIES, Slice
from evaltex_cli.runtime.marks import comment, kind_of

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_EXPRESSION = re.compile(
    r"\s*(?:(?P<prefix>[\w-]+)\s*\.\s*)?(?P<score>[a-z][\w-]*)\s*(?:\[(?P<slice>[^]]*)\]\s*)?"
    rf"(?:(?P<operator><=|>=|<|>)\s*(?P<value>[-+]?\s*{_NUMBER})"
    rf"|:\s*(?P<change>[-+]\s*{_NUMBER})\s*(?P<percent>%?))\s*",
    re.IGNORECASE | re.ASCII,
)
_FORMS = (
    "SCORE<VALUE (also <=, >, >=), or against a baseline SCORE:-CHANGE or SCORE:-PERCENT%, with"
    " PROTOCOL. before it; recall[height<16] is that of a slice"
)
_MAY_DIFFER = ("version", "min_confidence", "det_level", "det_classes", "coordinates", "columns")
"""Parts of a signature in which a run may differ from its baseline."""
TOLERANCE = 1e-12
"""A score this close to a limit is at it: the difference is rounding."""


class Subject(NamedTuple):
    """What gates apply to: how it was made, and scores, with the recalls of slices among them."""

    name: str
    signature: str
    scores: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition: the run fails where it is true, or where the score is undefined.

    `subject` is the name of one, and `score` one of its scores. The score is compared with `limit`;
    if there is a `baseline`, with what lies so far, or so many per cent, from its score.
    """

    expression: str
    subject: str
    score: str
    slice: str | None
    operator: str
    limit: float
    is_percent: bool = False
    baseline: Subject | None = None

    def verdict(self, value: float | None) -> Verdict:
        """Decide on a value of the score."""
        limit, base = self.limit, None
        if self.baseline is not None:
            base = self.baseline.scores[self.score]
            limit = base + (abs(base) * limit / 100 if self.is_percent else limit)
        passed = value is not None and not _is_beyond(value, self.operator, limit)
        return Verdict(self.expression, self.subject, self.score, value, base, limit, passed)


def _is_beyond(value: float, operator: str, limit: float) -> bool:
    if abs(value - limit) <= TOLERANCE:
        return operator in ("<=", ">=")
    return value < limit if operator.startswith("<") else value > limit


# Before the work ----------------------------------------------------------------------------------


def prepare(
    expressions: Sequence[str],
    baselines: Iterable[Path],
    runs: Iterable[Run],
    in_sweep: bool = False,
) -> list[Gate]:
    """Return the gates of these runs, or of a sweep by them, and refuse what no work can decide.

    `baselines` are results, diagnoses and sweeps, or folders with results or a sweep. Raises
    `ConfigError` for gates, `InputError` for baselines that cannot be read.
    """
    if not expressions:
        return []
    names = {run.protocol.name: scalars(score_nothing(run).scores) for run in runs}
    if in_sweep:
        names = {
            f"{name} {part}": [*scores, *more]
            for name, scores in names.items()
            for part, more in (("sweep", ["level", "optimism"]), ("crossval", ["optimism"]))
        }
    earlier = [subject for path in baselines for subject in _read(path)]
    gates = []
    for expression in expressions:
        try:
            gates.append(_parse(expression, names, earlier))
        except ConfigError as error:
            raise ConfigError(f"--fail-if {expression}: {error}") from error
    return gates


def _parse(expression: str, names: Mapping[str, Sequence[str]], earlier: Sequence[Subject]) -> Gate:
    """Return a gate on one of the subjects, name -> scores, against one of the earlier ones."""
    parts = _EXPRESSION.fullmatch(expression)
    if parts is None:
        raise ConfigError(f"expected {_FORMS}")
    subject = _subject(plain(parts["prefix"] or ""), list(names))
    score, slice_name = resolve(parts["score"], names[subject]), None
    if parts["slice"] is not None:
        if same(score) != "recall" or subject not in PROTOCOLS:
            raise ConfigError(f"{subject} has no slices of {score}; expected recall of a run")
        slice_name = slices.parse(parts["slice"]).name
        score = f"recall[{slice_name}]"
    number = float("".join((parts["value"] or parts["change"]).split()))
    if parts["operator"]:
        _refuse_vain(score, parts["operator"], number)
        return Gate(expression, subject, score, slice_name, parts["operator"], number)
    if not parts["percent"] and abs(number) >= 1 and score not in UNBOUNDED:
        raise ConfigError(
            f"{score} is from 0 to 1, so it cannot change by 1; did you mean {number:+g}%?"
        )
    operator = "<" if math.copysign(1, number) < 0 else ">"
    is_percent, baseline = parts["percent"] == "%", _baseline(subject, score, earlier)
    return Gate(expression, subject, score, slice_name, operator, number, is_percent, baseline)


def _subject(prefix: str, names: Sequence[str]) -> str:
    """Return the subject that is meant: of a sweep, the operating point unless it says crossval."""
    meant = [name for name in names if prefix in ("", *name.split())]
    if not meant:
        expected = ", ".join(dict.fromkeys(" ".join(names).split()))
        raise ConfigError(f"{quote(prefix)} is not in this run; expected one of {expected}")
    protocol = meant[0].split()[0]
    if any(name.split()[0] != protocol for name in meant):
        raise ConfigError(f"there are several protocols; name one, as in {protocol}.recall")
    return meant[0]


def _refuse_vain(score: str, operator: str, limit: float) -> None:
    """Refuse a limit that no result or every result passes."""
    low, high = -1.0 if score == "optimism" else 0.0, math.inf if score in UNBOUNDED else 1.0
    fails = {_is_beyond(value, operator, limit) for value in (low, high)}
    if len(fails) == 1:
        what = "every result fails" if True in fails else "no result can fail"
        raise ConfigError(
            f"{what} this gate: {score} is from {low:g} to {high:g}, and it fails if it is"
            f" {operator} {limit:g}"
        )


def _baseline(name: str, score: str, earlier: Sequence[Subject]) -> Subject:
    """Return the only earlier subject of this name with this score."""
    fit = [one for one in earlier if one.name == name and score in one.scores]
    if len(fit) > 1:
        raise ConfigError(f"there is a second baseline of {name} with {score}; give one only")
    if not fit:
        made = "the .json of an earlier run"
        if score.endswith("]"):
            made = "what `evaltex diagnose GT DET --format json` prints with edges at these numbers"
        raise ConfigError(f"needs a baseline of {name} with {score}; give {made} by --baseline")
    if fit[0].scores[score] is None:
        raise ConfigError(f"{score} is undefined in the baseline")
    return fit[0]


def _read(path: Path) -> list[Subject]:
    """Return the subjects in a result, a diagnosis or a sweep, or in those of a folder."""
    if path.is_dir():
        files = [one for one in sorted(path.glob("*.json")) if kind_of(one) in ("result", "sweep")]
        return [subject for file in files for subject in _read(file)]
    kind = kind_of(path)
    if kind not in ("diagnosis", "sweep"):
        result = reader.read(path, with_images=False)
        gates = result.gates or ()
        recalls = {gate.score: gate.value for gate in gates if gate.score.endswith("]")}
        return [Subject(result.protocol, result.signature, {**result.scores, **recalls})]
    try:
        protocols = json.loads(path.read_bytes())["protocols"]
        return of_sweep(protocols) if kind == "sweep" else list(map(_of_diagnosis, protocols))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"{path}: is a damaged {kind} ({what}); make it again") from error


def _of_diagnosis(members: Mapping[str, Any]) -> Subject:
    """Return the recalls of slices in a protocol's members of a diagnosis."""
    recalls = {
        f"recall[{Slice(quantity, each['low'], each['high']).name}]": each["recall"]
        for quantity in QUANTITIES
        for each in members["breakdowns"][quantity]
    }
    return Subject(members["protocol"], members["signature"], recalls)


# After the work -----------------------------------------------------------------------------------


def slices_of(gates: Sequence[Gate]) -> dict[str, list[str]]:
    """Return the slices that gates need: protocol -> their names."""
    names = defaultdict(list)
    for gate in gates:
        if gate.slice is not None:
            names[gate.subject].append(gate.slice)
    return names


def of_run(evaluation: Evaluation, recalls: Mapping[str, float | None]) -> Subject:
    """Return what gates apply to in a run: scores, and slice -> recall."""
    of_slices = {f"recall[{name}]": recall for name, recall in recalls.items()}
    name = evaluation.protocol.name
    return Subject(name, evaluation.signature, {**evaluation.scores, **of_slices})


def of_sweep(protocols: Mapping[str, Any]) -> list[Subject]:
    """Return what gates apply to in the protocols of a sweep, as its JSON has them."""
    subjects = []
    for name, members in protocols.items():
        point, checked = members["operating_point"], members["cross_validated"]
        checked = checked or {"scores": {}, "optimism": None}  # a single image has none
        more = {"optimism": checked["optimism"]}
        scores = {**point["scores"], **more, "level": point["level"]}
        subjects += [
            Subject(f"{name} sweep", members["signature"], scores),
            Subject(f"{name} crossval", members["signature"], {**checked["scores"], **more}),
        ]
    return subjects


def decide(gates: Sequence[Gate], subjects: Iterable[Subject]) -> list[Verdict]:
    """Decide every gate, in their order.

    Raises `InputError` when a baseline was made in another way, and when the inputs do not allow a
    gate's protocol.
    """
    by_name, verdicts = {one.name: one for one in subjects}, []
    for gate in gates:
        if gate.subject not in by_name:
            raise InputError(f"--fail-if {gate.expression}: the inputs do not allow {gate.subject}")
        subject = by_name[gate.subject]
        if gate.baseline is not None:
            _refuse_unlike(gate.baseline, subject)
        verdicts.append(gate.verdict(subject.scores.get(gate.score)))
    return verdicts


def _refuse_unlike(before: Subject, now: Subject) -> None:
    """Refuse a baseline that was made in another way."""
    was, here = parts_of(before.signature), parts_of(now.signature)
    differences = [
        f"{part} is {quote(was.get(part, 'the default'))}, here {here.get(part, 'the default')}"
        for part in dict.fromkeys([*was, *here])
        if part not in _MAY_DIFFER and was.get(part) != here.get(part)
    ]
    if differences:
        raise InputError(
            f"baseline of {now.name}: {'; '.join(differences)}; make a new baseline in the same way"
        )


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
