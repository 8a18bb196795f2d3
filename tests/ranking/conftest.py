"""What tests of several modules of this folder take."""

from __future__ import annotations

from pathlib import Path

import pytest
from rank_inputs import SHARES, write_side


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for k, dataset in enumerate(("one", "two")):
        write_side(tmp_path / f"gt-{dataset}.txt", 0, 1, is_gt=True)
        for label, share in SHARES.items():
            seed = 100 * k + len(label)
            write_side(tmp_path / f"{label}-{dataset}.txt", seed, share, is_gt=False)
    lines = ['protocols = ["iou", "evaltex"]', "resamples = 300"]
    for dataset in ("one", "two"):
        lines += [f"[datasets.{dataset}]", f'gt = "gt-{dataset}.txt"']
    for label in SHARES:
        lines += [
            f"[detectors.{label}]",
            *(f'{one} = "{label}-{one}.txt"' for one in ("one", "two")),
        ]
    (tmp_path / "board.toml").write_text("\n".join(lines))
    return tmp_path
