"""`evaltex_cli.find_suspects`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from evaltex_cli.api.compare import Detectors, named
from evaltex_cli.api.inputs import Images, ScoringOptions, asked, sides, warn
from evaltex_cli.audit.audit import SUSPICION, Audit, audit
from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.evaluation.inputs import open_inputs


def find_suspects(
    gt: Images,
    detectors: Detectors,
    protocol: str | Iterable[str] | None = None,
    suspicion: float = SUSPICION,
    **options: Unpack[ScoringOptions],
) -> Audit:
    """Find what may be wrong in a ground truth, as ``evaltex audit``: where detectors agree with
    each other and not with it.

    Parameters
    ----------
    gt : path, or one array per image
        As `evaluate`; boxes and polygons.
    detectors : mapping or sequence
        Name -> detections as `evaluate` takes them; two or more.
    protocol : str or iterable of str
        As `evaluate`: what the detectors are ranked by, with and without the suspects.
    suspicion : float
        From which suspects are left out there.

    Other Parameters
    ----------------
    **options
        As `evaluate`, but for `per_image` and `progress`.

    Returns
    -------
    Audit
        Its `suspects` are sorted by falling suspicion.

    Raises
    ------
    InputError, ConfigError
        As `evaluate`; also for fewer than two detectors, and for masks.

    Examples
    --------
    >>> words = [[x, 0, x + 80, 20] for x in range(0, 1000, 100)]
    >>> seen = {"a": [words], "b": [[[x, y, x1, y1 + 2] for x, y, x1, y1 in words]]}
    >>> first = find_suspects([words[1:]], seen, "iou").suspects[0]
    >>> first.kind, first.detectors, first.box
    ('missing', ('a', 'b'), (0.0, 0.0, 80.0, 20.0))
    """
    if not 0 <= suspicion <= 1:
        raise ConfigError(f"suspicion={suspicion}; expected a number from 0 to 1")
    wanted = asked(protocol, options)
    inputs = {}
    with wanted.workers() as ordered_map:
        for label, det in named(detectors, "find_suspects").items():
            both = sides(gt, det, wanted.sizes)
            if both.options(wanted.options).masks is not None:
                raise InputError("find_suspects: masks; expected boxes and polygons")
            inputs[label] = open_inputs(both.gt, both.det, wanted.options, ordered_map)
        found = audit(inputs, wanted.chosen.records, suspicion, ordered_map)
    warn(found.warnings)
    return found
