"""Scores, images and objects of an evaluation as data frames of pandas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from evaltex_cli.display import frame, frame_of_rows, unknown_table
from evaltex_cli.errors import ConfigError
from evaltex_cli.protocols.score_names import scalars

if TYPE_CHECKING:
    import pandas


class Evaluated(Protocol):
    """What is needed of a `tally.Evaluation`."""

    @property
    def protocol(self) -> Any: ...
    @property
    def scores(self) -> dict[str, Any]: ...
    @property
    def images(self) -> Sequence[Any]: ...
    @property
    def gt(self) -> Any: ...


def of_evaluation(evaluation: Evaluated, table: str) -> pandas.DataFrame:
    """Return one of `TABLES`; raises as `tally.Evaluation.to_pandas`."""
    if table not in TABLES:
        raise unknown_table(table, list(TABLES))
    if table != "scores" and not evaluation.images and evaluation.gt.images:
        raise ConfigError(
            f"to_pandas({table!r}): no images in this result; evaluate again with per_image=True"
        )
    return TABLES[table](evaluation)


def _scores(evaluation: Evaluated) -> pandas.DataFrame:
    scores = {name: _number(evaluation.scores[name]) for name in scalars(evaluation.scores)}
    protocols = [evaluation.protocol.name] * len(scores)
    return frame({"protocol": protocols, "score": list(scores), "value": list(scores.values())})


def _images(evaluation: Evaluated) -> pandas.DataFrame:
    columns: dict[str, list[Any]] = {"image": [image.name for image in evaluation.images]}
    for name in scalars(evaluation.scores):
        columns[name] = [_number(image.scores.get(name)) for image in evaluation.images]
    columns["objects"] = [len(image.objects) for image in evaluation.images]
    columns["detections"] = [len(image.detections) for image in evaluation.images]
    return frame(columns)


def _objects(evaluation: Evaluated) -> pandas.DataFrame:
    known = [one for image in evaluation.images for one in (*image.objects, *image.detections)]
    names = list(dict.fromkeys(name for one in known for name in one.values))

    def rows() -> Iterator[Sequence[Any]]:
        for image in evaluation.images:
            for side, objects in (("gt", image.objects), ("det", image.detections)):
                for one in objects:
                    values = (_number(one.values.get(name)) for name in names)
                    box = one.box or (math.nan,) * 4
                    yield (
                        image.name,
                        side,
                        one.id,
                        one.match,
                        one.partners,
                        *values,
                        one.text,
                        *box,
                    )

    heads = ("image", "side", "id", "match", "partners", *names, "text", "x0", "y0", "x1", "y1")
    return frame_of_rows(heads, rows())


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


TABLES: dict[str, Callable[[Evaluated], pandas.DataFrame]] = {
    "scores": _scores,
    "images": _images,
    "objects": _objects,
}
