"""The sample of the tool's page, evaluated, and the text of its image."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaltex_cli import evaluate
from evaltex_cli.evaluation.evaluate import Run
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.results import result_text

GT = """\
img_1

960,1280
1,1,"Tiredness",f,38,43,882,172
2,2,"kills",f,275,264,390,186
3,3,"A",f,0,699,77,131
4,3,"short",f,128,705,355,134
5,3,"break",f,542,710,396,131
6,4,"could",f,87,884,370,137
7,4,"save",f,517,919,314,105
8,5,"your",f,166,1095,302,136
9,5,"life",f,530,1069,213,137
"""
DET = 'img_1\n\n1,"",272,264,392,186\n2,"",34,40,886,175\n3,"",168,1082,300,148\n'


def image_text(evaluation: Evaluation) -> str:
    """The text of the first image's file."""
    return result_text.image(evaluation.images[0], Run(evaluation.protocol, evaluation.parameters))


def run(
    folder: Path, gt: str, det: str, protocol: str = "evaltex", **parameters: Any
) -> Evaluation:
    (folder / "gt.txt").write_text(gt, encoding="utf-8")
    (folder / "det.txt").write_text(det, encoding="utf-8")
    return evaluate(folder / "gt.txt", folder / "det.txt", protocol, per_image=True, **parameters)
