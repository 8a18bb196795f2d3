"""`evaltex_cli.diagnose`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Unpack, overload

from evaltex_cli.api.inputs import Images, ScoringOptions, asked, sides, warn
from evaltex_cli.diagnosis.breakdown import Edges
from evaltex_cli.diagnosis.diagnosis import Diagnosis, Diagnostician, diagnosed
from evaltex_cli.diagnosis.error_types import Thresholds
from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.evaluation import ByProtocol, of_protocols
from evaltex_cli.evaluation.inputs import open_inputs


class DiagnosisOptions(ScoringOptions, total=False):
    """Options of `diagnose`."""

    thresholds: Mapping[str, float] | Thresholds | None
    edges: Mapping[str, Iterable[float]] | Edges | None


@overload
def diagnose(  # type: ignore[overload-overlap]
    gt: Images, det: Images, protocol: Literal["all"], **options: Unpack[DiagnosisOptions]
) -> ByProtocol[Diagnosis]: ...
@overload
def diagnose(  # type: ignore[overload-overlap]
    gt: Images, det: Images, protocol: str | None = None, **options: Unpack[DiagnosisOptions]
) -> Diagnosis: ...
@overload
def diagnose(
    gt: Images, det: Images, protocol: Iterable[str], **options: Unpack[DiagnosisOptions]
) -> ByProtocol[Diagnosis]: ...
def diagnose(
    gt: Images, det: Images, protocol: str | Iterable[str] | None = None, **options: Any
) -> Diagnosis | ByProtocol[Diagnosis]:
    """Show where detections lose score: by kind of mistake, and by height, aspect ratio and length
    of the text.

    Parameters
    ----------
    gt, det, protocol
        As `evaluate`; boxes and polygons.

    Other Parameters
    ----------------
    thresholds : mapping
        Where one kind of mistake ends and the next begins, shares of an area: ``{"tight": 0.9}`` of
        ``overlap``, ``tight``, ``loose`` and ``surplus``.
    edges : mapping
        Inner edges of the bins of the breakdowns: ``{"height": (20, 40)}`` of ``height``,
        ``aspect_ratio`` and ``length``.
    **options
        As `evaluate`, but for `per_image` and `progress`.

    Returns
    -------
    Diagnosis or ByProtocol
        Of one name, its result; else a mapping of protocol -> result.

    Raises
    ------
    InputError, ConfigError
        As `evaluate`; also for masks, and for thresholds and edges that are unknown or out of
        range.

    Examples
    --------
    >>> diagnose([[[0, 0, 100, 20], [0, 40, 60, 60]]], [[[0, 0, 50, 20]]], "iou").kinds[0].shares
    {'recall': 0.5, 'precision': 0.5, 'hmean': 0.5}
    """
    thresholds, edges = options.pop("thresholds", None), options.pop("edges", None)
    diagnostician = Diagnostician(
        _record(Thresholds, "thresholds", thresholds), _record(Edges, "edges", edges)
    )
    wanted = asked(protocol, options)
    given = sides(gt, det, wanted.sizes)
    with wanted.workers() as ordered_map:
        inputs = open_inputs(given.gt, given.det, given.options(wanted.options), ordered_map)
        found = diagnosed(inputs, wanted.chosen.records, diagnostician, ordered_map=ordered_map)
    warn(of_protocols((one.protocol, one.warnings) for one in found))
    return found[0] if wanted.chosen.is_one else ByProtocol({one.protocol: one for one in found})


def _record(kind: type[Any], name: str, given: Any) -> Any:
    """Return thresholds or edges from a mapping.

    Raises
    ------
    ConfigError
        For unknown names, and values that are no numbers.
    """
    if given is None or isinstance(given, kind):
        return given
    known = kind.__dataclass_fields__
    try:
        values = {
            key: tuple(map(float, one)) if kind is Edges else float(one)
            for key, one in dict(given).items()
        }
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{name}={given!r}; expected numbers for {', '.join(known)}") from error
