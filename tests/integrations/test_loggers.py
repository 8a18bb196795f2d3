"""Results in MLflow, Weights & Biases and TensorBoard, read back from what these have stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from limits import wait_for

from evaltex_cli import Evaluations, evaluate, write_report

pytestmark = pytest.mark.filterwarnings(
    "default"
)  # the libraries deprecate what they use of others
WORDS = Path(__file__).parents[2] / "examples" / "words"


@pytest.fixture(scope="module")
def result() -> Evaluations:
    return evaluate(WORDS / "gt.txt", WORDS / "det.txt", ["iou", "evaltex"], per_image=True)


@pytest.fixture
def report(result: Evaluations, tmp_path: Path) -> Path:
    write_report(result, tmp_path / "report.html")
    return tmp_path / "report.html"


def test_mlflow(
    result: Evaluations, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    from evaltex_cli.integrations.mlflow import log_result

    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    mlflow.create_experiment("test", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment("test")
    with mlflow.start_run() as run:
        log_result(result, report=report, step=3)
    stored = mlflow.get_run(run.info.run_id).data
    assert stored.metrics["evaltex/iou/recall"] == result["iou"].scores["recall"]
    assert stored.tags["evaltex.evaltex"] == result["evaltex"].signature
    files = {path.name: path for path in (tmp_path / "artifacts").rglob("*") if path.is_file()}
    assert set(files) == {"iou.json", "evaltex.json", "report.html"}
    assert json.loads(files["iou.json"].read_text(encoding="utf-8")) == result["iou"].to_dict()
    assert files["report.html"].read_bytes() == report.read_bytes()


def test_wandb_offline(
    result: Evaluations, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    from evaltex_cli.integrations.wandb import log_result

    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_ARTIFACT_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    with pytest.raises(RuntimeError, match=r"call wandb.init\(\) first"):
        log_result(result)
    with wandb.init(dir=str(tmp_path), project="evaltex") as run:
        log_result(result, report=report, step=2)
        assert run.summary["evaltex/iou/recall"] == result["iou"].scores["recall"]
    (stored,) = tmp_path.rglob("*.wandb")
    # A process of wandb writes it, perhaps after the run has ended.
    texts = b"evaltex/evaltex/fscore", b"report.html"
    wait_for(lambda: all(text in stored.read_bytes() for text in texts))


def test_tensorboard(result: Evaluations, report: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    torchboard: Any = pytest.importorskip(
        "torch.utils.tensorboard", reason="torch is not installed"
    )
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    from evaltex_cli.integrations.tensorboard import log_result

    with torchboard.SummaryWriter(tmp_path / "log") as writer:
        log_result(writer, result, report=report, step=5)
    events = EventAccumulator(str(tmp_path / "log")).Reload()
    (scalar,) = events.Scalars("evaltex/iou/recall")
    assert (scalar.step, scalar.value) == (5, result["iou"].scores["recall"])
    (text,) = events.Tensors("evaltex/result/text_summary")
    shown = text.tensor_proto.string_val[0].decode()
    assert result["iou"].signature in shown
    assert "0.5405" in shown
    assert str(report) in shown


def test_an_adapter_is_short_and_the_rest_imports_none_of_the_libraries() -> None:
    package = Path(__file__).parents[2] / "evaltex_cli"
    libraries = ("torch", "torchmetrics", "mmengine", "mlflow", "wandb", "tensorboard")
    for file in package.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        is_adapter = file.parent.name == "integrations"
        assert not is_adapter or len(text.splitlines()) <= 60, file
        for name in libraries:
            assert is_adapter or not any(
                line.startswith((f"import {name}", f"from {name} ", f"from {name}."))
                for line in text.splitlines()
            ), file
