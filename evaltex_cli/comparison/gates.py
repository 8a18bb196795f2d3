"""Gates: conditions on scores under which a run, or a sweep, counts as failed.

A gate is ``SCORE<VALUE``, or ``SCORE:-CHANGE`` against an earlier run, its baseline; with ``@95``
it fails only if the 95 % interval of the difference is wholly beyond the change, and passes only if
it is wholly on the other side. It applies to a `Subject`: a protocol of a run
(``PROTOCOL.SCORE``), or a sweep's operating point (``sweep.SCORE``) or cross-validation
(``crossval.SCORE``).
"""

from __future__ import annotations

import html
import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from evaltex_cli.comparison.detectors import DetectorResult, read_differently
from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.evaluation.evaluate import Run, score_nothing
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.extras import IMAGES, Bootstrap, Interval, Verdict
from evaltex_cli.evaluation.groups import Units
from evaltex_cli.evaluation.inputs import parts_of
from evaltex_cli.protocols import PROTOCOLS, plain
from evaltex_cli.protocols.base import EvidenceRows, Scores
from evaltex_cli.protocols.score_names import UNBOUNDED, resolve, same, scalars
from evaltex_cli.results import reader, significance, slices
from evaltex_cli.results.significance import Replicates
from evaltex_cli.results.slices import QUANTITIES, Slice
from evaltex_cli.runtime.marks import comment, kind_of

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_EXPRESSION = re.compile(
    r"\s*(?:(?P<prefix>[\w-]+)\s*\.\s*)?(?P<score>[a-z][\w -]*?)\s*(?:\[(?P<slice>[^]]*)\]\s*)?"
    rf"(?:(?P<operator><=|>=|<|>)\s*(?P<value>[-+]?\s*{_NUMBER})"
    rf"|:\s*(?P<change>[-+]\s*{_NUMBER})\s*(?P<scale>%|pt)?\s*(?:@\s*(?P<level>\d+\.?\d*))?)\s*",
    re.IGNORECASE | re.ASCII,
)
_FORMS = (
    "SCORE<VALUE (also <=, >, >=), or against a baseline SCORE:-0.01, SCORE:-1pt or SCORE:-1%, with"
    " @95 for evidence, with PROTOCOL. before it; recall[height<16] is that of a slice"
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
    rows: EvidenceRows | None = None
    """The evidence of each image, and how it is scored; None where it was not stored."""
    score: Callable[[Any], Scores] | None = None


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
    level: float | None = None
    """The difference must be shown at this level, from 0 to 1; None for the difference itself."""

    def verdict(self, subject: Subject, units: Units) -> Verdict:
        """Decide on the score of a subject; evidence is of these units."""
        value, limit, base = subject.scores.get(self.score), self.limit, None
        if self.baseline is not None:
            base = self.baseline.scores[self.score]
            limit = base + (abs(base) * limit / 100 if self.is_percent else limit)
        passed: bool | None = value is not None and not _is_beyond(value, self.operator, limit)
        interval, advice = None, ""
        if self.level is not None and value is not None and base is not None:
            interval, count, reason = self._evidence(subject, units)
            passed, advice = None, reason or ""
            if interval is not None:
                ends = [_is_beyond(bound, self.operator, limit - base) for bound in interval]
                passed = None if any(ends) and not all(ends) else not any(ends)
            if interval is not None and passed is None:
                half, gap = (interval[1] - interval[0]) / 2, abs(value - limit)
                needed = math.ceil(count * (half / gap) ** 2) if gap > TOLERANCE else 0
                needed = round(needed, 2 - len(str(needed)))  # two digits
                settle = f"about {units.counted(needed)} would settle it"
                advice = settle if needed else "the difference is at the limit"
        own = self.expression, self.subject, self.score, value, base, limit
        return Verdict(*own, passed, interval, advice)

    def _evidence(self, now: Subject, units: Units) -> tuple[Interval | None, int, str | None]:
        """Return the interval of the difference to the baseline, of how many units it is, and why
        there is none.
        """
        assert self.baseline is not None
        assert self.level is not None
        bootstrap = Bootstrap(self.level, significance.RESAMPLES, 0, units)

        def drawn(subject: Subject) -> Replicates:
            assert subject.rows is not None
            assert subject.score is not None
            return significance.replicates(subject.rows, subject.score, bootstrap)

        first, second = drawn(self.baseline), drawn(now)
        count = int((first.has_objects | second.has_objects).sum())
        test = significance.of_difference(self.score, first, second, count, self.level)
        return test.interval, count, test.reason


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
    units: Units = IMAGES,
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
    has_evidence = any("@" in expression for expression in expressions)
    earlier = [subject for path in baselines for subject in _read(path, has_evidence)]
    gates = []
    for expression in expressions:
        try:
            gates.append(_parse(expression, names, earlier))
            _refuse_without_evidence(gates[-1], in_sweep, units)
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
    if not parts["scale"] and abs(number) >= 1 and score not in UNBOUNDED:
        raise ConfigError(
            f"{score} is from 0 to 1, so it cannot change by {abs(number):g}; did you mean"
            f" {number:+g}pt (hundredths of the scale), {number:+g}% (of the baseline) or"
            f" {number / 100:+g}?"
        )
    number = number / 100 if parts["scale"] == "pt" else number
    level = None if parts["level"] is None else float(parts["level"]) / 100
    if level is not None and not 0 < level < 1:
        raise ConfigError("the level after @ is in per cent, such as @95")
    operator = "<" if math.copysign(1, number) < 0 else ">"
    is_percent, baseline = parts["scale"] == "%", _baseline(subject, score, earlier)
    against = is_percent, baseline, level
    return Gate(expression, subject, score, slice_name, operator, number, *against)


def _refuse_without_evidence(gate: Gate, in_sweep: bool, units: Units) -> None:
    """Refuse a gate by evidence that its baseline cannot give."""
    if gate.level is None or gate.baseline is None:
        return
    if in_sweep or gate.slice is not None:
        raise ConfigError("@ is for scores of a run, not of a sweep or of slices")
    rows = gate.baseline.rows
    if rows is None or not rows.names:
        raise ConfigError("@ needs a baseline with its images; make that run again with -a")
    have, least = int(units.rows(rows).has_objects.sum()), significance.least_units(gate.level)
    if have < least:
        raise ConfigError(
            f"{units.counted(have)} of the baseline cannot decide at {100 * gate.level:g}%; at"
            f" least {least} are needed"
        )


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


def _read(path: Path, with_images: bool) -> list[Subject]:
    """Return the subjects in a result, a diagnosis or a sweep, or in those of a folder."""
    if path.is_dir():
        files = [one for one in sorted(path.glob("*.json")) if kind_of(one) in ("result", "sweep")]
        return [subject for file in files for subject in _read(file, with_images)]
    kind = kind_of(path)
    if kind not in ("diagnosis", "sweep"):
        result = reader.read(path, with_images=with_images)
        gates = result.gates or ()
        recalls = {gate.score: gate.value for gate in gates if gate.score.endswith("]")}
        own = result.protocol, result.signature, {**result.scores, **recalls}
        stored = DetectorResult(str(path), result)
        return [Subject(*own, stored.rows if with_images else None, stored.score)]
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
    scores = {f"recall[{name}]": recall for name, recall in recalls.items()}
    own = evaluation.protocol.name, evaluation.signature, {**evaluation.scores, **scores}
    return Subject(*own, evaluation.rows, evaluation.score)


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


def decide(
    gates: Sequence[Gate], subjects: Iterable[Subject], units: Units = IMAGES
) -> list[Verdict]:
    """Decide every gate, in their order; evidence is of these units.

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
        if gate.level is not None and gate.baseline is not None:
            before, now = gate.baseline.rows, subject.rows
            if before is None or now is None or sorted(before.names) != sorted(now.names):
                raise InputError(f"baseline of {subject.name}: it has other images than this run")
        verdicts.append(gate.verdict(subject, units))
    return verdicts


def warnings_of(gates: Iterable[Gate], subjects: Iterable[Subject]) -> list[str]:
    """Return a warning for each baseline whose boxes were read in another way."""
    now = {one.name: one.signature for one in subjects}
    found = [
        read_differently({"the baseline": gate.baseline.signature, "this run": now[gate.subject]})
        for gate in gates
        if gate.baseline is not None
    ]
    return list(dict.fromkeys(chain.from_iterable(found)))


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


def fails(verdict: Verdict, unclear: str) -> bool:
    """Whether a run fails by a verdict; `unclear` says what an unclear one does: pass or fail."""
    return verdict.passed is False or (verdict.passed is None and unclear == "fail")


def junit(verdicts: Sequence[Verdict], unclear: str) -> str:
    """Return verdicts as JUnit XML, which every CI server shows: a test case for each gate, skipped
    if it is unclear and that does not fail.
    """
    failed = sum(fails(verdict, unclear) for verdict in verdicts)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', comment("junit")]
    lines.append(
        f'<testsuites><testsuite name="evaltex" tests="{len(verdicts)}" failures="{failed}"'
        f' skipped="{sum(not one.passed for one in verdicts) - failed}" errors="0">'
    )
    for verdict in verdicts:
        name = html.escape(verdict.expression)
        case = f'<testcase classname="evaltex.{verdict.protocol}" name="{name}"'
        outcome = "failure" if fails(verdict, unclear) else "skipped"
        told = f'><{outcome} message="{html.escape(str(verdict))}"/></testcase>'
        lines.append(case + ("/>" if verdict.passed else told))
    return "\n".join([*lines, "</testsuite></testsuites>"]) + "\n"
