"""What is fuzzed. A target takes bytes and raises unless the only outcomes are success or a clear
message.

All names are fresh in every call: readers remember what stood at a path.
"""

from __future__ import annotations

import io
import itertools
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path

import numpy as np

from evaltex_cli.errors import EvaltexError, FaultLog
from evaltex_cli.formats import FORMATS, load, open_source
from evaltex_cli.formats.base import Side, Source

Target = Callable[[bytes], None]

SEPARATOR = b"\n%%%%\n"
"""Divides the parts of one input: ground truth, detections and parameters of
a command; a .txt file and its picture.
"""
MAX_PIXELS = 1 << 20
_numbers = itertools.count()


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder of its own, in memory where that can be had."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{next(_numbers)}-", dir=memory))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read(path: Path, side: Side, name: str | None) -> None:
    """Read all images of an input, one at a time and together, and hold the
    columns to what they promise.
    """
    faults = FaultLog()
    source = open_source(path, side, faults, name)
    everything = np.arange(len(source.names))
    _check(source, everything, faults)
    for k in everything[:3]:
        _check(source, np.array([k]), faults)
    if source.labels is not None and not faults.count:
        for k in everything[:3].tolist():
            source.labels(k)
    faults.raise_if_any()


def _check(source: Source, positions: np.ndarray, faults: FaultLog) -> None:
    images = source.read(positions)
    faults.extend(images.faults)
    objects = images.objects
    count = objects.count
    assert len(objects.offsets) == len(positions) + 1
    assert (np.diff(objects.offsets) >= 0).all()
    assert objects.boxes.shape == (count, 4)
    assert np.isfinite(objects.boxes).all()
    assert (objects.boxes[:, 2:] >= objects.boxes[:, :2]).all()
    assert (
        len(objects.ids)
        == len(objects.regions)
        == len(objects.dont_care)
        == len(list(objects.texts))
        == count
    )


def _format(name: str, data: bytes) -> None:
    """One format, named and then detected by content, as ground truth and as detections."""
    known = load(name)
    sample = "" if known.ending else known.sample_content()
    with _folder() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        if isinstance(sample, Mapping):
            path = folder / "in"
            path.mkdir()
            for file, content in zip(sample, data.split(SEPARATOR, len(sample) - 1), strict=False):
                (path / file).write_bytes(content)
        else:
            path = folder / "img_1"
            path.write_bytes(data)
        _tried(known.recognises, path)
        for side in ("gt", "det"):
            _tried(_read, path, side, name)
            _tried(_read, path, side, None)


def _archive(data: bytes) -> None:
    """A .zip archive of whatever."""
    with _folder() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        path = folder / "in.zip"
        path.write_bytes(data)
        for name in (None, "quad", "page", "totaltext-mat", "icdar2013-seg"):
            _tried(_read, path, "gt", name)


def _config(data: bytes) -> None:
    """A parameter file, and each of its lines as --set."""
    from evaltex_cli.protocols import PROTOCOLS, config

    with _folder() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        path = folder / "evaltex.ini"
        path.write_bytes(data)
        settings = _tried(config.read_config, path) or []
        for name in PROTOCOLS:
            _tried(config.parameters_of, name, settings)
        for line in data.decode("utf-8", "replace").split("\n")[:20]:
            setting = _tried(config.parse_set, line)
            if setting:
                _tried(config.parameters_of, setting.protocol, [setting])


def _mask(data: bytes) -> None:
    """A label picture, under every ending: its content says what it is."""
    from evaltex_cli.errors import FormatError
    from evaltex_cli.formats import label_images
    from evaltex_cli.formats.decoders import unlimited_and_silent
    from evaltex_cli.geometry.picture_runs import find_runs

    with _folder() as folder, unlimited_and_silent():
        path = folder / "picture.png"
        path.write_bytes(data)
        try:
            runs = find_runs(label_images.read_labels(path, None, MAX_PIXELS))
            label_images._whole(runs.label)
        except FormatError:
            pass


def _command(arguments: list[str], data: bytes) -> None:
    """A whole command on ground truth, detections and parameters; the parts
    that `SEPARATOR` divides.
    """
    from evaltex_cli.cli import main

    gt, det, ini, *_ = [*data.split(SEPARATOR, 2), b"", b""]
    before = Path.cwd()
    with _folder() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        (folder / "gt").write_bytes(gt)
        (folder / "det").write_bytes(det)
        (folder / "evaltex.ini").write_bytes(ini)
        os.chdir(folder)
        out, err = io.StringIO(), io.StringIO()
        status: object = 0
        try:
            with redirect_stdout(out), redirect_stderr(err):
                main(arguments, prog_name="evaltex")
        except SystemExit as stop:
            status = stop.code or 0
        finally:
            os.chdir(before)
        assert status in (0, 2), (status, err.getvalue())
        assert "internal error" not in err.getvalue(), err.getvalue()
        assert status == 0 or err.getvalue().strip() or out.getvalue().strip(), (
            "a failure without a message"
        )
        assert all(line.isprintable() for line in err.getvalue().split("\n")), ascii(err.getvalue())
        assert not list(folder.rglob(".evaltex-*"))
        assert status == 0 or arguments[0] == "validate" or not (folder / "res").exists()


def _tried(function: Callable[..., object], *arguments: object) -> object:
    """Call; what a user caused is well, everything else is not."""
    try:
        return function(*arguments)
    except EvaltexError as error:
        assert str(error).strip(), "an error without a message"
        assert all(line.isprintable() for line in str(error).split("\n")), ascii(str(error))
        return None


TARGETS: dict[str, Target] = {
    **{f"format-{name}": partial(_format, name) for name in FORMATS},
    "archive": _archive,
    "config": _config,
    "mask": _mask,
    "evaluate": partial(
        _command, ["gt", "det", "res", "-a", "--protocol", "all", "--plots", "--report"]
    ),
    "validate": partial(_command, ["validate", "gt", "det"]),
    "convert": partial(
        _command, ["convert", "gt", "res", "--kind", "gt", "--to", "evaltex", "--regions", "lines"]
    ),
    "diagnose": partial(_command, ["diagnose", "gt", "det"]),
}
"""Name -> target; its inputs are in ``corpus/<name>/``, and a format's sample is one of them."""


def corpus(name: str) -> dict[str, bytes]:
    """Return the inputs of a target by their names: those stored, and the sample of a format."""
    folder = Path(__file__).parent / "corpus" / name
    inputs = {path.name: path.read_bytes() for path in sorted(folder.glob("*")) if path.is_file()}
    if name.startswith("format-"):
        with suppress(ImportError):  # SciPy, which writes one of them, is optional
            sample = load(name.removeprefix("format-")).sample_content()
            parts = sample.values() if isinstance(sample, Mapping) else [sample]
            encoded = (part.encode() if isinstance(part, str) else part for part in parts)
            inputs["seed-sample"] = SEPARATOR.join(encoded)
    return inputs


if __name__ == "__main__":
    for argument in sys.argv[2:]:
        TARGETS[sys.argv[1]](Path(argument).read_bytes())
