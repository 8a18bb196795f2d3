"""``python -m fuzz``: run targets for some time, by atheris where it is
installed, else by mutation of the corpus.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent
LONGEST_SECONDS = 20
MOST_BYTES = 1 << 16
"""Of an input."""
MOST_WAITING = 15
"""An input may take so many times `LONGEST_SECONDS` of the clock: a busy
machine gives a process less than all.
"""
MOST_MEMORY = 4 << 30
TOKENS = [
    *["0", "-0", "1", "-1", "0.5", "1e308", "-1e308", "1e-320", "1e400", "nan"],
    *["inf", "-inf", "1e12", "1e13"],
    *["9223372036854775808", "1_0", "0x10", "٣", "1.", ".5", "+1", "-", "e"],
    *["\x1b[31m", "\x85", "\u202e"],
    *["", "\n", "\r\n", "\r", "\t", " ", ",", ";", '"', "'", "\\", "\0", "\ufeff"],
    *["\u2028", "\ud7ff", "é", "###"],
    *["9" * 400, "[" * 2000, "{" * 300, "<a>" * 300, "../", "..\\", "/", "C:"],
    *["img_1", "null", "true", "{}", "[]"],
    *["<!DOCTYPE a>", "&amp;", "&#0;", "<![CDATA[", "-->", "]]>", "t", "f", "#"],
    *["x:", "[[", "]]", "PK\x03\x04"],
]  # fmt: skip
NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")


def main() -> int:
    from fuzz.targets import TARGETS

    options = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    options.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"default: all of {', '.join(TARGETS)}"
    )
    options.add_argument(
        "--seconds", type=float, default=60, help="for all targets together (default: 60)"
    )
    options.add_argument(
        "--inputs", type=int, help="for each target, without atheris: the same on every machine"
    )
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--plain", action="store_true", help="without atheris")
    given = options.parse_args()
    unknown = [name for name in given.targets if name not in TARGETS]
    if unknown:
        options.error(f"unknown target {', '.join(unknown)}")
    names = given.targets or list(TARGETS)
    plain = given.plain or given.inputs is not None
    guided = not plain and importlib.util.find_spec("atheris") is not None
    seconds = given.seconds / len(names)
    if guided:
        failed = [name for name in names if not _guided(name, seconds, given.seed)]
    else:
        failed = [name for name in names if not _plain(name, given.inputs, seconds, given.seed)]
    kind = (
        "guided by coverage"
        if guided
        else "by plain mutation" + ("" if plain else " (atheris is not installed)")
    )
    print(
        f"{len(names)} targets {kind}: "
        + (f"findings in {', '.join(failed)}" if failed else "nothing found")
    )
    return 1 if failed else 0


# Guided by coverage -------------------------------------------------------------------------------


def _guided(name: str, seconds: float, seed: int) -> bool:
    """Run a target under atheris in a process of its own, since libFuzzer ends the process."""
    from fuzz.targets import corpus

    found = FOLDER / "corpus" / name
    found.mkdir(parents=True, exist_ok=True)
    grown = FOLDER / "grown" / name  # what covers something new; not stored
    grown.mkdir(parents=True, exist_ok=True)
    for stored, data in corpus(name).items():
        (grown / stored).write_bytes(data)
    command = [
        sys.executable,
        __file__,
        name,
        f"-max_total_time={max(int(seconds), 1)}",
        f"-seed={seed + 1}",
    ]
    command += [
        f"-timeout={LONGEST_SECONDS}",
        f"-rss_limit_mb={MOST_MEMORY >> 20}",
        f"-max_len={MOST_BYTES}",
    ]
    command += [f"-artifact_prefix={found}/found-", "-verbosity=0", str(grown), str(found)]
    environment = {**os.environ, "EVALTEX_FUZZ_GUIDED": "1", "PYTHONPATH": str(FOLDER.parent)}
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"{name}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.returncode == 0


def _fuzz_guided() -> None:
    import atheris

    with atheris.instrument_imports(include=["evaltex_cli"]):
        from fuzz.targets import TARGETS, corpus

        name = sys.argv.pop(1)
        for stored in corpus(name).values():
            TARGETS[name](stored)  # imports what is imported inside functions
    atheris.Setup(sys.argv, TARGETS[name])
    atheris.Fuzz()


# Plain mutation -----------------------------------------------------------------------------------


def _plain(name: str, inputs: int | None, seconds: float, seed: int) -> bool:
    """Mutate the corpus at random, for some inputs or else some time; save
    and print the first input that fails.
    """
    from fuzz.targets import TARGETS

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    signal.signal(signal.SIGPROF, _too_long)
    signal.signal(signal.SIGALRM, _too_long)
    end = time.monotonic() + seconds
    for runs, data in enumerate(mutations(name, seed)):
        if runs == inputs or (inputs is None and time.monotonic() >= end):
            break
        _limit(LONGEST_SECONDS)
        try:
            TARGETS[name](data)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            _limit(0)
            path = FOLDER / "corpus" / name / f"found-{hashlib.sha256(data).hexdigest()[:16]}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            traceback.print_exc()
            print(f"{name}: {path.relative_to(FOLDER.parent)}")
            return False
        _limit(0)
    print(f"{name}: {runs} inputs")
    return True


def _limit(seconds: int) -> None:
    """Stop what takes more seconds of processor than this, or waits for ever; 0 lifts the limit."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(MOST_WAITING * seconds)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"took longer than {LONGEST_SECONDS} seconds")


def mutations(name: str, seed: int) -> Iterator[bytes]:
    """Yield inputs without end, which the target's name, its corpus and the seed decide."""
    from fuzz.targets import corpus

    rng = random.Random(f"{name}-{seed}")
    stored = list(corpus(name).values()) or [b""]
    while True:
        yield mutated(rng.choice(stored), stored, rng)


def mutated(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Change some places of an input: a number, some bytes, a stretch
    repeated, removed or taken from another.
    """
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        start = rng.randint(0, len(data))
        stop = min(len(data), start + int(rng.expovariate(1 / 20)))
        token = rng.choice(TOKENS).encode("utf-8")
        kind = rng.randrange(7)
        if kind == 0:
            numbers = list(NUMBER.finditer(data))
            if numbers:
                start, stop = rng.choice(numbers).span()
            data = data[:start] + token + data[stop:]
        elif kind == 1:
            data = data[:start] + token + data[start:]
        elif kind == 2:
            data = data[:start] + data[stop:]
        elif kind == 3:
            data = data[:start] + data[start:stop] * rng.choice((2, 3, 50)) + data[stop:]
        elif kind == 4:
            other = rng.choice(others)
            cut = rng.randint(0, len(other))
            data = data[:start] + other[cut : cut + stop - start + 1] + data[stop:]
        elif kind == 5 and data:
            at = min(start, len(data) - 1)
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        else:
            data = data[:start] + rng.randbytes(rng.randint(1, 8)) + data[stop:]
    return data[:MOST_BYTES]


if __name__ == "__main__":
    if os.environ.get("EVALTEX_FUZZ_GUIDED"):
        _fuzz_guided()
    else:
        sys.exit(main())
