"""Gates of a sweep: conditions on scores at the operating point, on cross-validated scores and on
the optimism, alone or against the sweep.json of an earlier sweep.

``PROTOCOL.SCORE`` and ``sweep.SCORE`` are of the operating point, ``crossval.SCORE`` is
cross-validated; without a protocol's name they are of the only protocol. ``optimism`` and ``level``
count as scores.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaltex_cli.comparison.gate import Gate, decided, parse, refuse_impossible
from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.evaluation.inputs import parts_of
from evaltex_cli.protocols import score_names
from evaltex_cli.results.extras import Verdict
from evaltex_cli.thresholds.result import Sweep

FILE = "sweep.json"
POINT, CROSS_VALIDATED = "sweep", "crossval"
PARTS = {POINT: "operating_point", CROSS_VALIDATED: "cross_validated"}


@dataclass(frozen=True, slots=True)
class Gates:
    """Gates, and by protocol what the earlier sweep says of it."""

    gates: Sequence[Gate] = ()
    before: Mapping[str, Any] = field(default_factory=dict)

    def verdicts(self, sweeps: Sequence[Sweep]) -> list[Verdict]:
        """Decide every gate.

        Raises
        ------
        ConfigError
            For a protocol that is not in the run, an unknown score, a limit out of its range, and a
            gate that needs a baseline that is not there.
        InputError
            For a baseline of other data or parameters.
        """
        by_name = {one.protocol: one for one in sweeps}
        for name, one in by_name.items():
            if name in self.before:
                _refuse_other(one, self.before[name])
        return [self._verdict(gate, by_name) for gate in self.gates]

    def _verdict(self, gate: Gate, by_name: Mapping[str, Sweep]) -> Verdict:
        lead = f"--fail-if {gate.expression}: "
        part, name = _subject(gate, list(by_name))
        scores = _scores(by_name[name].to_dict(), part)
        try:
            own = score_names.resolve(gate.score, list(scores))
        except ConfigError as error:
            raise ConfigError(f"{lead}{error} (scores of {name})") from error
        base = None
        if gate.operator is not None:
            refuse_impossible(gate, own, _bounds(own, name), gate.operator, gate.limit)
        else:
            if name not in self.before:
                raise ConfigError(
                    f"{lead}needs an earlier sweep of {name}; give one by --baseline {FILE}"
                )
            base = _scores(self.before[name], part).get(own)
            if not isinstance(base, int | float):
                raise ConfigError(f"{lead}{own} is undefined in the baseline")
        return decided(gate, f"{name} {part}", own, scores[own], base)


def prepare(expressions: Sequence[str], baselines: Sequence[Path]) -> Gates:
    """Return the gates of a sweep before any work.

    Raises
    ------
    ConfigError, InputError
        For expressions and baselines that cannot be read, and gates on slices.
    """
    gates = [parse(expression) for expression in expressions]
    for gate in gates:
        if gate.slice is not None:
            raise ConfigError(f"--fail-if {gate.expression}: a sweep has no slices")
    before: dict[str, Any] = {}
    for path in baselines:
        file = path / FILE if path.is_dir() else path
        before |= _read(file)
    return Gates(gates, before)


def _read(file: Path) -> dict[str, Any]:
    """Return protocol -> its members in a sweep.json."""
    try:
        document = json.loads(file.read_bytes())
        if document["kind"] != "sweep":
            raise InputError(f"{file}: is no sweep; expected the {FILE} of an earlier sweep")
        found = {str(name): one for name, one in document["protocols"].items()}
        for one in found.values():
            parts_of(one["signature"])
            for part in PARTS:
                _scores(one, part)
    except FileNotFoundError as error:
        raise InputError(f"{file}: is missing; expected the {FILE} of an earlier sweep") from error
    except OSError as error:
        raise InputError(
            f"{file}: cannot be read ({error.strerror or error}); expected the {FILE} of an earlier"
            " sweep"
        ) from error
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{file}: is no {FILE} of an earlier sweep ({type(error).__name__}); make it again"
        ) from error
    return found


def _refuse_other(sweep: Sweep, before: Mapping[str, Any]) -> None:
    then, now = parts_of(before["signature"]), parts_of(sweep.signature)
    unlike = [
        f"baseline of {sweep.protocol}: {quote(part)} is {quote(str(then.get(part)))},"
        f" here {now.get(part)}"
        for part in {**then, **now}
        if part != "version" and then.get(part) != now.get(part)
    ]
    if unlike:
        raise InputError(
            "\n".join([*unlike, "a baseline serves only runs made the same way; make a new one"])
        )


def _subject(gate: Gate, names: Sequence[str]) -> tuple[str, str]:
    """Return which part of a sweep a gate is of, and of which protocol."""
    if gate.protocol is not None and gate.protocol in names:
        return POINT, gate.protocol
    if gate.protocol is not None and gate.protocol not in PARTS:
        raise ConfigError(
            f"--fail-if {gate.expression}: {quote(gate.protocol)} is not in this sweep; expected"
            f" one of {', '.join([*PARTS, *names])}"
        )
    if len(names) > 1:
        raise ConfigError(
            f"--fail-if {gate.expression}: there are several protocols; name one, as in"
            f" {names[0]}.{gate.score}, or give one by --protocol"
        )
    return gate.protocol or POINT, names[0]


def _bounds(score: str, protocol: str) -> tuple[float, float]:
    """Return the least and the greatest value of a score of a sweep."""
    if score == "optimism":
        return -1.0, 1.0
    return 0.0, math.inf if score in score_names.UNBOUNDED else 1.0


def _scores(members: Mapping[str, Any], part: str) -> dict[str, Any]:
    """Return the scores that gates on a part of a sweep's JSON may name; none if it has no such
    part.
    """
    of_part = members[PARTS[part]] or {"scores": {}}
    point, checked = members["operating_point"], members["cross_validated"] or {}
    more = {"level": point["level"]} if part == POINT else {}
    return {**of_part["scores"], **more, "optimism": checked.get("optimism")}


__all__ = ["Gates", "prepare"]
