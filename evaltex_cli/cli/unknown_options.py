"""What to do about options that there are not: parameters of protocols are set by `--set`, and some
options are known from other programs.
"""

from __future__ import annotations

from dataclasses import fields

import click

from evaltex_cli.cli.names import one_of

_THRESHOLD = (
    "--set KEY=VALUE sets a threshold of a protocol, such as iou.iou=0.7, and --min-confidence that"
    " of the detections."
)
_OF_OTHERS = {
    "output": "Give RES_DIR after GT and DET, or --format json to print the results.",
    "o": "Give RES_DIR after GT and DET, or --format json to print the results.",
    "threshold": _THRESHOLD,
    "thresh": _THRESHOLD,
    "iou-threshold": _THRESHOLD,
    "iou-thresh": _THRESHOLD,
    "v": "Did you mean -V (the version)?",
}
"""Options of other programs, without dashes: what to give instead."""


def described(error: click.NoSuchOption) -> str:
    """Return what is wrong, and what to give instead as far as it is known."""
    found = f"No such option {error.option_name!r}."
    name = error.option_name.lstrip("-").replace("_", "-")
    if owners := _owners(name.replace("-", "_")):
        key = name.replace("-", "_")
        return (
            f"{found} It is a parameter of {one_of(owners)}: give --set {owners[0]}.{key}=VALUE"
            " with that protocol."
        )
    if name in _OF_OTHERS and error.ctx is not None and error.ctx.command.name == "evaluate":
        return f"{found} {_OF_OTHERS[name]}"
    return error.format_message()


def _owners(key: str) -> list[str]:
    """The protocols that have a parameter."""
    from evaltex_cli.protocols import PROTOCOLS
    from evaltex_cli.protocols.base import load

    return [
        name for name in PROTOCOLS if key in {field.name for field in fields(load(name).parameters)}
    ]
