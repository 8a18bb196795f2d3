"""Units, parts of a data set, and gates by evidence, on the command line and in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from command_line import run

from evaltex_cli import ConfigError, compare, evaluate, rank, sweep
from evaltex_cli.results import reader, result_document

DOCUMENTS, PAGES = 8, 3
NAMES = [f"doc{chr(97 + k)}-{page}" for k in range(DOCUMENTS) for page in range(PAGES)]
LANGUAGES = ["de" if k % 2 else "fr" for k in range(len(NAMES))]


def write(name: str, missed: int, label: str = "") -> None:
    """Write COCO results or ground truth: words of two classes, of which detections miss some."""
    rng = np.random.default_rng(missed)
    images, annotations = [], []
    for k, image in enumerate(NAMES, 1):
        images.append({"id": k, "file_name": f"{image}.jpg", "width": 300, "height": 200})
        for word in range(6):
            if rng.random() * 10 >= missed:
                box = [10, 30 * word, 100 + int(rng.integers(0, 9)) * bool(missed), 20]
                annotation = {"id": 10 * k + word, "image_id": k, "category_id": 1 + word % 2}
                annotation |= {"transcription": "word"} if word % 2 else {}
                annotations.append(annotation | {"bbox": box, "score": rng.random() / 2 + 0.5})
    classes = [{"id": 1, "name": "title"}, {"id": 2, "name": "text"}]
    document = {"images": images, "annotations": annotations, "categories": classes}
    Path(name).write_text(json.dumps(document))


@pytest.fixture(autouse=True)
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, missed in (("gt.json", 0), ("good.json", 1), ("same.json", 2), ("bad.json", 5)):
        write(name, missed)
    rows = [
        f"{name},{language},{k}"
        for k, (name, language) in enumerate(zip(NAMES, LANGUAGES, strict=True))
    ]
    Path("groups.csv").write_text("\n".join(["image,language,number", *rows]))


def json_of(*arguments: str) -> Any:
    """The members of the only protocol."""
    (found,) = json.loads(run(*arguments, "--format", "json").stdout)["protocols"]
    return found


def test_parts_of_a_run_are_runs_on_these_images() -> None:
    options = ("--protocol", "iou", "--groups", "groups.csv", "--by", "language", "--ci")
    found = json_of("gt.json", "good.json", *options)
    assert [one["value"] for one in found["slices"]] == ["de", "fr"]
    assert sum(one["objects"] for one in found["slices"]) == found["inputs"]["gt"]["objects"]
    for one in found["slices"]:
        own = [n for n, language in zip(NAMES, LANGUAGES, strict=True) if language == one["value"]]
        Path("only.txt").write_text("\n".join(own))
        alone = json_of("gt.json", "good.json", "--protocol", "iou", "--ci", "--only", "only.txt")
        assert one["scores"] == {name: alone["scores"][name] for name in one["scores"]}
        assert one["intervals"] == {name: alone["intervals"][name] for name in one["scores"]}
        assert one["images"] == len(own)
    table = run("gt.json", "good.json", *options).stdout
    assert "language  images  objects  detections" in table


def test_parts_by_class_are_runs_with_these_classes() -> None:
    found = json_of("gt.json", "good.json", "--protocol", "iou", "--by", "class")
    assert [one["value"] for one in found["slices"]] == ["text", "title"]
    for one in found["slices"]:
        classes = ("--gt-classes", one["value"], "--det-classes", one["value"])
        alone = json_of("gt.json", "good.json", "--protocol", "iou", *classes)
        assert one["scores"] == {name: alone["scores"][name] for name in one["scores"]}
    document = json.loads(Path("good.json").read_text())
    for annotation in document["annotations"]:
        del annotation["category_id"]
    Path("unlabelled.json").write_text(json.dumps(document["annotations"]))
    bare = json_of("gt.json", "unlabelled.json", "--protocol", "iou", "--by", "class")
    for one, labelled in zip(bare["slices"], found["slices"], strict=True):
        assert one["scores"]["recall"] == labelled["scores"]["recall"]
        assert one["scores"]["hmean"] is None
    detectors = ["unlabelled.json", "bad.json"]
    of_class = json_of("compare", "gt.json", *detectors, "--protocol", "iou", "--by", "class")
    assert {one["score"]["score"] for one in of_class["slices"]} == {"recall"}
    in_python = compare("gt.json", detectors, ["iou", "iou-crw"], by=["class"])
    assert in_python["iou"].to_dict()["slices"] == of_class["slices"]


def test_parts_are_compared_as_detectors_on_these_images_are() -> None:
    detectors = {"good": "good.json", "bad": "bad.json"}
    found = compare("gt.json", detectors, "iou", by=["language"], groups="groups.csv")
    for part in found.slices:
        own = [n for n, language in zip(NAMES, LANGUAGES, strict=True) if language == part.value]
        alone = compare("gt.json", detectors, "iou", only=own)
        assert part.score == alone.main
        assert part.images == len(own)
    assert "By language" in run(
        *("compare", "gt.json", "good.json", "bad.json", "--groups", "groups.csv"),
        *("--by", "language", "--protocol", "iou"),
    ).stdout  # fmt: skip


def test_units_of_one_image_are_images_and_pages_are_documents() -> None:
    detectors = {"good": "good.json", "same": "same.json"}
    images = compare("gt.json", detectors, "iou")
    numbers = compare("gt.json", detectors, "iou", unit="number", groups="groups.csv")
    assert numbers.scores == images.scores
    documents = compare("gt.json", detectors, "iou", unit="page")
    assert (documents.compared_units, documents.compared_images) == (DOCUMENTS, len(NAMES))
    assert "test over documents, all 255 subsets of the documents" in documents.test()
    assert documents.main.differences == images.main.differences
    assert documents.main.p_values != images.main.p_values
    assert documents.signatures[0].endswith("|unit:page")
    ranking = rank("gt.json", detectors, "iou", unit="page")
    (pair,) = ranking.datasets[0].protocols["iou"].pairs
    assert pair.p == documents.main.p_values[1]
    few = compare("gt.json", detectors, "iou", unit="language", groups="groups.csv")
    assert few.main.p_values == [None, None]
    assert "2 units (language) cannot show a difference" in str(few.main.reasons[1])
    with pytest.raises(ConfigError, match="unit shop: give a file with such a column"):
        compare("gt.json", detectors, "iou", unit="shop")


def test_pages_are_noticed_where_there_are_statistics() -> None:
    assert "look like pages of 8 documents" in run("gt.json", "good.json", "--ci").stderr
    assert "look like pages" not in run("gt.json", "good.json").stderr
    by_page = ("compare", "gt.json", "good.json", "bad.json", "--unit", "page")
    assert "look like pages" not in run(*by_page).stderr


def test_documents_are_not_divided_between_folds() -> None:
    found = sweep("gt.json", "good.json", "iou", unit="page", folds=30)
    assert found.folds == DOCUMENTS
    assert sweep("gt.json", "good.json", "iou", folds=30).folds == len(NAMES)


def test_a_comparison_concludes() -> None:
    found = compare("gt.json", {"good": "good.json", "bad": "bad.json"}, "iou")
    (told,) = found.conclusions()
    assert (
        told.startswith("bad is worse than good: -") and "points of hmean, 95% interval -" in told
    )
    assert told.endswith("p < 0.001.")
    same = compare("gt.json", {"good": "good.json", "also": "good.json"}, "iou")
    assert same.conclusions() == ["Cannot tell also from good: no image shows a difference."]
    assert same.power() == []
    few = compare("gt.json", {"good": "good.json", "bad": "bad.json"}, "iou", only=NAMES[:3])
    assert few.conclusions()[0].startswith("Cannot tell bad from good: 3 images cannot show")
    shown = run("compare", "gt.json", "good.json", "bad.json", "--protocol", "iou").stdout
    assert told in " ".join(shown.split())
    assert "With these 24 images a true difference of" in " ".join(shown.split())
    document = json_of("compare", "gt.json", "good.json", "bad.json", "--protocol", "iou")
    assert document["conclusions"] == [told]


def test_gates_by_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    run("gt.json", "good.json", "base", "-a", "--protocol", "iou", "-q")
    run("gt.json", "good.json", "bare", "--protocol", "iou", "-q")
    (change,) = compare("gt.json", {"a": "good.json", "b": "bad.json"}, "iou").main.differences[1:]

    def gated(det: str, gate: str, *more: str, base: str = "base", status: int = 0) -> Any:
        gates = ("--fail-if", gate, "--baseline", base, "--junit", "gates.xml", "--force")
        return run("gt.json", det, "--protocol", "iou", *gates, *more, status=status)

    assert "Gate FAILED" in gated("bad.json", "hmean:-1pt@95", status=1).stdout
    assert "Gate passed" in gated("good.json", "hmean:-1pt@95").stdout
    assert "Gate passed" in gated("bad.json", "hmean:-90%@95").stdout
    assert change is not None
    at_limit = f"hmean:{change + 0.003:.3f}@95"
    assert "::warning" not in gated("bad.json", at_limit).stderr
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert "::warning title=evaltex::unclear" in gated("bad.json", at_limit).stderr
    unclear = gated("bad.json", at_limit, "--unclear", "pass").stdout
    assert "Gate unclear" in unclear and "images would settle it" in " ".join(unclear.split())
    assert '<skipped message="unclear' in Path("gates.xml").read_text()
    gated("bad.json", at_limit, "--unclear", "fail", status=1)
    assert '<failure message="unclear' in Path("gates.xml").read_text()
    gate = ("--fail-if", at_limit, "--baseline", "base")
    (verdict,) = json_of("gt.json", "bad.json", "--protocol", "iou", *gate)["gates"]
    assert verdict["passed"] is None and len(verdict["interval"]) == 2
    for gate, more, base, message in (
        ("hmean:-1pt@95", (), "bare", "needs a baseline with its images"),
        ("hmean:-1pt@95", ("--unit", "language", "--groups", "groups.csv"), "base", "2 units"),
        ("hmean:-1pt@99.99", ("--unit", "page"), "base", "at least 15 are needed"),
        ("hmean:-1", (), "base", "-1pt (hundredths of the scale), -1% (of the baseline) or -0.01"),
    ):
        refused = " ".join(gated("bad.json", gate, *more, base=base, status=2).stderr.split())
        assert message in refused, gate


def test_one_score_for_a_script() -> None:
    found = evaluate("gt.json", "good.json", "iou")
    arguments = ("gt.json", "good.json", "--protocol", "iou")
    assert run(*arguments, "--score", "F1").stdout == f"{found.scores['hmean']!r}\n"
    both = ("gt.json", "good.json", "--protocol", "iou,evaltex")
    assert run(*both, "--score", "iou.recall").stdout == f"{found.scores['recall']!r}\n"
    assert "give one of iou.recall, " in run(*both, "--score", "recall", status=2).stderr


def test_a_unit_is_of_intervals_and_of_gates_by_evidence() -> None:
    run("gt.json", "good.json", "base", "-a", "-q")
    page, gate = ("gt.json", "good.json", "--unit", "page"), ("--baseline", "base", "--fail-if")
    for more in ((), (*gate, "hmean:-1pt")):
        assert (
            "--unit has no effect without --ci, or a gate by evidence" in run(*page, *more).stderr
        )
    for more in (("--ci",), (*gate, "hmean:-1pt@95")):
        assert "no effect" not in run(*page, *more).stderr


def test_the_schema_describes_parts_units_and_evidence() -> None:
    schema = Path(result_document.__file__).with_name("evaltex.schema.json").read_text()
    run("gt.json", "good.json", "base", "-a", "--protocol", "iou", "-q")
    options = ("--by", "language", "--groups", "groups.csv", "--ci", "--unit", "page")
    gate = ("--fail-if", "hmean:-50pt@95", "--baseline", "base")
    run("gt.json", "bad.json", "res", "--protocol", "iou", *options, *gate)
    document = json.loads(Path("res/iou.json").read_text())
    jsonschema.Draft202012Validator(json.loads(schema)).validate(document)
    assert document["bootstrap"]["units"] == "page"
    assert len(document["slices"]) == 2 and document["gates"][0]["passed"] is True
    merged = reader.read(Path("res/iou.json"))
    assert merged.slices and merged.bootstrap and merged.bootstrap.units.name == "page"
