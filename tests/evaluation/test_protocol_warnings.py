"""Warnings that several protocols give are printed once, with the protocols."""

import re
import shlex
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from evaltex_cli.cli import main
from evaltex_cli.evaluation.evaluation import of_detectors, of_protocols
from evaltex_cli.protocols import PROTOCOLS

BOXES = "deteval, icdar2013, icdar2003: "
NAMES = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(PROTOCOLS, key=len, reverse=True))})(?![\w-])")


def test_names_of_the_protocols() -> None:
    of_all = "det.zip: 3 images are missing"
    reason = "the boxes agree, but not the rest; see `evaltex diagnose GT DET --protocol {}`"
    assert of_protocols(
        [
            ("iou", [of_all, "iou: one", f"nothing matches; {reason.format('iou')}"]),
            ("tiou", [of_all, "tiou: one", f"hardly anything matches; {reason.format('tiou')}"]),
            ("pq", [of_all, "pq: two", "iou: one"]),
        ]
    ) == [
        of_all,
        "iou, tiou: one",
        f"nothing matches; {reason.format('iou,tiou')}",
        "pq: two",
        "iou: one",
    ]


def test_labels_of_detectors() -> None:
    assert of_detectors(
        [
            ("iou", [("a", ["iou: one", "two"]), ("b", ["two", "iou: one", "three"])]),
            ("pq", [("a", ["pq: one"]), ("b", ["pq: one", "three"])]),
        ]
    ) == ["iou, pq: one", "two", "b: three"]
    of_file = [("a.zip", ["of/a.zip: one"]), ("b", ["of/b.zip: two"])]
    assert of_detectors([("iou", of_file)]) == ["of/a.zip: one", "b: of/b.zip: two"]


def lines_of(tmp_path: Path) -> dict[str, Path]:
    """Files of detections: as drawn, with x and y swapped, elsewhere, and none at all."""
    boxes = [(40 * k, 90 * k, 40 * k + 60, 90 * k + 15) for k in range(12)]
    tilted = [(x, y, x + 50, y + 40, x + 40, y + 55, x - 10, y + 15) for x, y, _, _ in boxes]
    read = {
        "gt": tilted,
        "swapped": [
            [v for x, y in zip(s[::2], s[1::2], strict=True) for v in (y, x)] for s in tilted
        ],
        "apart": [[v + 5000 * (k % 2) for k, v in enumerate(s)] for s in tilted],
        "crossing": [s[:4] + s[6:] + s[4:6] for s in tilted],
        "none": [],
    }
    for name, shapes in read.items():
        folder = tmp_path / name
        folder.mkdir()
        for image in ("a", "b"):
            rows = [
                ",".join(map(str, [*shape, "" if k % 3 else "word"]))
                for k, shape in enumerate(shapes)
            ]
            (folder / f"{image}.txt").write_text("\n".join(rows))
    return {name: tmp_path / name for name in read}


@pytest.mark.parametrize("det", ["swapped", "crossing", "none"])
@pytest.mark.parametrize(
    "command",
    [
        "{gt} {det} --ci 0.9 --resamples 20 --protocol all",
        "diagnose {gt} {det} --protocol all",
        "compare {gt} {det} {other} --resamples 20 --protocol all",
        "rank {gt} {det} {other} --label a --label b --resamples 20 --protocol all",
    ],
)
def test_no_warning_twice_for_several_protocols(command: str, det: str, tmp_path: Path) -> None:
    """But for the names of the protocols, and how little matches for the same reason."""
    files = lines_of(tmp_path)
    words = command.format(gt=files["gt"], det=files[det], other=files["crossing"])
    result = CliRunner().invoke(main, shlex.split(words), env={"COLUMNS": "10000"})
    assert result.exit_code == 0, result.output
    warnings = [
        text for text in result.stderr.splitlines() if text.startswith("evaltex: warning: ")
    ]
    assert any(BOXES in text for text in warnings)
    counts = Counter(
        NAMES.sub("PROTOCOL", text).partition("matches; ")[2] or text for text in warnings
    )
    assert max(counts.values()) == 1
