"""Results in MLflow, Weights & Biases and TensorBoard, read back from what these have stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from limits import wait_for

from evaltex_cli import Evaluations, evaluate, write_report
from evaltex_cli.integrations import loggers

# The libraries use what other libraries deprecate.
pytestmark = pytest.mark.filterwarnings("default")
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
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    mlflow.create_experiment("test", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment("test")
    with mlflow.start_run() as run:
        loggers.log_to_mlflow(result, report=report, step=3)
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
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_ARTIFACT_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    with pytest.raises(RuntimeError, match=r"call wandb.init\(\) first"):
        loggers.log_to_wandb(result)
    with wandb.init(dir=str(tmp_path), project="evaltex") as run:
        loggers.log_to_wandb(result, report=report, step=2)
        assert run.summary["evaltex/iou/recall"] == result["iou"].scores["recall"]
    (stored,) = tmp_path.rglob("*.wandb")
    # A process of wandb writes it, perhaps after the run has ended.
    texts = b"evaltex/evaltex/fscore", b"report.html"
    wait_for(lambda: all(text in stored.read_bytes() for text in texts))


def test_tensorboard(result: Evaluations, report: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    torchboard: Any = pytest.importorskip("torch.utils.tensorboard", reason="no torch")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with torchboard.SummaryWriter(tmp_path / "log") as writer:
        loggers.log_to_tensorboard(writer, result, report=report, step=5)
    events = EventAccumulator(str(tmp_path / "log")).Reload()
    (scalar,) = events.Scalars("evaltex/iou/recall")
    assert (scalar.step, scalar.value) == (5, result["iou"].scores["recall"])
    (text,) = events.Tensors("evaltex/result/text_summary")
    shown = text.tensor_proto.string_val[0].decode()
    assert result["iou"].signature in shown
    assert "0.5405" in shown
    assert str(report) in shown
