"""Two small archives of words, and what the tool says of them."""

import pytest
from written_files import zipped

from evaltex_cli import evaluate
from evaltex_cli.errors import InputError

QUADS = {1: "10,10,110,10,110,40,10,40", 2: "10,60,90,60,90,90,10,90"}
BOXES = {1: "10,10,110,40", 2: "10,60,90,90"}
ALL = {"recall": 1.0, "precision": 1.0}


def gt_zip(folder, shapes=QUADS, name="gt_img_{}.txt"):
    return zipped(
        folder / "gt.zip", {name.format(k): f"{line},word{k}\n" for k, line in shapes.items()}
    )


def det_zip(folder, shapes=QUADS, name="res_img_{}.txt"):
    return zipped(folder / "det.zip", {name.format(k): f"{line}\n" for k, line in shapes.items()})


def scores(gt, det, **options):
    found = evaluate(gt, det, "iou", **options).scores
    return {name: found[name] for name in ALL}


def refusal(gt, det, **options):
    with pytest.raises(InputError) as refused:
        evaluate(gt, det, "iou", **options)
    return str(refused.value)
