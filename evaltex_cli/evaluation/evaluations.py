"""The results of several protocols on one data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from evaltex_cli.display import DataFrame, Record, Table, frames_below, number
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.protocol_warnings import of_protocols
from evaltex_cli.protocols.score_names import same

Result_co = TypeVar("Result_co", bound=Record, covariant=True)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ByProtocol(Record, Mapping[str, Result_co]):
    """Results by the names of their protocols, in the order of the registry.

    Attributes
    ----------
    results : mapping
        Protocol -> result.
    left_out : mapping
        Protocols of ``"all"`` that the input does not allow -> the reason.
    """

    results: Mapping[str, Result_co]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, protocol: str) -> Result_co:
        return self.results[protocol]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def shown(self) -> Table:
        """Return one row per protocol."""
        rows = [["protocol", "result"], *([name, one.summary()] for name, one in self.items())]
        return Table(f"{len(self)} protocols", rows, _left_out(self.left_out))

    def to_dict(self) -> dict[str, Any]:
        """Return protocol -> result, as dictionaries, lists, strings, numbers and None."""
        return {name: one.to_dict() for name, one in self.items()}

    def to_pandas(self, table: str = "") -> DataFrame:
        """Return a table of every result, one below the other, as a data frame; see the single
        result's method.
        """
        frames = []
        for name, one in self.items():
            of_one = one.to_pandas(table) if table else one.to_pandas()  # type: ignore[attr-defined]
            if "protocol" not in of_one:
                of_one.insert(0, "protocol", name)
            frames.append(of_one)
        return frames_below(frames)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Evaluations(ByProtocol[Evaluation]):
    """The evaluations of several protocols on one data set, by their names; see `ByProtocol`."""

    @property
    def warnings(self) -> list[str]:
        """The warnings of all protocols, each once."""
        return of_protocols((name, one.warnings) for name, one in self.items())

    def shown(self) -> Table:
        """Return the headline scores, one row per protocol; every F-score is in one column."""
        shown = {
            name: {_head(score): value for score, value in one.headline.items()}
            for name, one in self.items()
        }
        heads = list(dict.fromkeys(score for scores in shown.values() for score in scores))
        rows = [["protocol", *heads]]
        rows += [
            [name, *(number(scores[head]) if head in scores else "" for head in heads)]
            for name, scores in shown.items()
        ]
        title = next((one.size() for one in self.values()), "no protocol")
        return Table(title, rows, _left_out(self.left_out))


def _head(score: str) -> str:
    return "f-score" if same(score) == same("f-score") else score


def _left_out(reasons: Mapping[str, str]) -> str:
    listed = ", ".join(f"{name} ({reason})" for name, reason in reasons.items())
    return f"left out: {listed}" if listed else ""


def by_protocol(result: Evaluation | Evaluations) -> Mapping[str, Evaluation]:
    """Return a result, of one protocol or of several, by the names of the protocols."""
    return {result.protocol.name: result} if isinstance(result, Evaluation) else result
