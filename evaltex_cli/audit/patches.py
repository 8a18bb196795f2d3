"""The patch of an audit: one entry for each suspect, none of them accepted."""

from __future__ import annotations

from collections.abc import Iterable

from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.conversion.patches import Entry, GroundTruth, Patch


def patch_of(ground_truth: GroundTruth, suspects: Iterable[Suspect]) -> Patch:
    """Return the patch of some suspects, in their order.

    Parameters
    ----------
    ground_truth : GroundTruth
        What was audited, whole (`conversion.patching.identify`).
    suspects : iterable of Suspect

    Returns
    -------
    Patch
        For `conversion.patches.write_patch`, and `in_json` for a page.
    """
    return Patch(
        ground_truth,
        tuple(
            Entry(one.kind, one.image, one.objects, one.suspicion, one.current, one.proposed)
            for one in suspects
        ),
    )
