"""Streams that are closed or full, readers who leave, pipes and devices in the place of files."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest
from started_runs import JOBS, RUN, Tree, finish, new_run, run, start, tree

pytestmark = pytest.mark.usefixtures("scene")


@pytest.mark.parametrize(
    "arguments",
    [
        RUN,
        ["compare", "gt.txt", "det.txt", "det.txt", "--resamples", "10", "--format", "json"],
        ["diagnose", "gt.txt", "det.txt"],
        ["validate", "gt.txt", "det.txt", "--format", "json"],
        ["convert", "gt.txt", "out.zip", "--kind", "gt"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_reader_who_leaves_early_is_no_error(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    process = start(*arguments, stdout=writing)
    os.close(writing)
    os.close(reading)
    assert finish(process)[0] == 0


CLOSED = [">&-", "2>&-", "<&-", ">&- 2>&- <&-"]


@pytest.mark.parametrize("jobs", JOBS, ids=lambda jobs: "-".join(jobs) or "one process")
@pytest.mark.parametrize("closed", CLOSED)
def test_streams_that_are_closed_are_nowhere(
    outcomes: dict[str, Tree], closed: str, jobs: list[str]
) -> None:
    assert finish(new_run(*jobs, before=["sh", "-c", f'exec "$0" "$@" {closed}']))[0] == 0
    assert tree(Path("res")) == outcomes["new"]
    assert (
        run("gt.txt", "missing.txt", "res", before=["sh", "-c", f'exec "$0" "$@" {closed}'])[0] == 2
    )


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs /dev/full, the file of Linux that is always full"
)
@pytest.mark.parametrize(
    "arguments",
    [RUN, ["diagnose", "gt.txt", "det.txt"], ["--help"], ["compare", "--help"]],
    ids=str,
)
def test_output_that_cannot_be_written_is_reported(
    arguments: list[str], outcomes: dict[str, Tree]
) -> None:
    with Path("/dev/full").open("w") as full:
        status, stderr = run(*arguments, stdout=full)
        assert status == 2
        assert "No space left on device" in stderr
        assert run("gt.txt", "missing.txt", "res", stderr=full)[0] == 2
        assert run(*RUN, stderr=full)[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        [*RUN, "--config", "/dev/zero"],
        [*RUN, "--baseline", "/dev/zero", "--fail-if", "recall:-1%"],
        ["report", "/dev/zero", "--output", "page.html"],
        ["merge", "/dev/zero", "/dev/zero", "merged"],
    ],
    ids=lambda arguments: " ".join(arguments[-2:]),
)
def test_a_device_without_end_is_not_read(arguments: list[str]) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))

    status, stderr = run(*arguments, preexec_fn=limit)
    assert status == 2
    assert "/dev/zero: is a device" in stderr


def test_output_goes_into_what_is_no_file() -> None:
    os.mkfifo("pipe")
    process = start("validate", "gt.txt", "det.txt", "--format", "json", "--output", "pipe")
    with Path("pipe").open() as reading:
        assert json.load(reading)
    assert finish(process)[0] == 0
    assert Path("pipe").is_fifo()
