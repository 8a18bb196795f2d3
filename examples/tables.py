"""Tables 4 to 8 of the CLEval paper, made again: python examples/tables.py GT.zip
[icdar2013|icdar2015]

Makes the toy sets of a ground truth and scores them by the protocols that the paper compares. If
one of the paper's data sets is named, each score is followed by the paper's figure. Prints
Markdown.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evaltex_cli import evaluate
from evaltex_cli.conversion.toys import write_toys
from evaltex_cli.errors import EvaltexError

CASES = {
    "Original": "orig",
    "Crop 80%": "crop81",
    "Crop 60%": "crop60",
    "Crop 40%": "crop40",
    "Split by 2": "split2",
    "Split by 3": "split3",
    "Split by 4": "split4",
    "Overlap 10%": "overlap10",
    "Overlap 20%": "overlap20",
    "Overlap 30%": "overlap30",
}
EDITS = {
    "Original": "e2e_orig",
    **{f"{kind} {k}": f"e2e_{kind.lower()}{k}" for kind in ("Insert", "Delete") for k in (1, 2, 3)},
    **{f"Replace {k}": f"e2e_replace{k}_rand" for k in (1, 2, 3)},
}
COUNTS = (
    "splits",
    "merges",
    "missed_characters",
    "overlapped_characters",
    "false_positive_characters",
)
E2E = ("e2e_recall", "e2e_precision", "e2e_hmean")
RPH = ("recall", "precision", "hmean")

PUBLISHED = {
    "icdar2013": {
        "DetEval": """99.7/99.9/99.8 97.1/97.3/97.2 0.3/0.5/0.4 0.1/0.1/0.1 78.7/79.9/79.3 78.6/79.8/79.2
            78.5/79.7/79.1 78.9/79.8/79.4 79.0/79.9/79.4 79.0/79.8/79.4""",
        "IoU": """99.8/100/99.9 99.8/100/99.9 99.7/99.9/99.8 0.0/0.0/0.0 98.4/49.3/65.7 0.0/0.0/0.0 0.0/0.0/0.0
            99.8/50.0/66.6 99.8/50.0/66.6 99.8/50.0/66.6""",
        "CLEval": """99.7/98.7/99.2 82.7/98.7/90.0 60.7/98.9/75.2 40.1/95.2/56.4 82.4/97.2/89.2 66.7/94.2/78.1
            53.2/89.9/66.8 81.1/88.7/84.7 80.9/82.0/81.5 80.9/74.0/77.3""",
        "counts": """15/9/0/61/0 15/9/996/50/0 12/8/2292/27/0 9/7/3499/12/96 1014/12/0/60/93 1014/16/0/61/276
            1014/19/0/60/581 1085/15/0/710/10 1093/15/0/1252/2 1093/15/0/2020/2""",
        "IoU+CRW": "99.6/99.8/99.7" + 9 * " 0.0/0.0/0.0",
        "e2e": """99.7/99.7/99.7/98.9 99.7/84.0/91.2/83.6 99.7/73.1/84.4/73.1 99.7/65.7/79.2/65.6 81.0/99.7/89.4/80.4
            63.7/99.6/77.7/63.3 48.0/99.5/64.8/47.8 81.0/81.0/81.0/80.4 64.1/64.2/64.1/63.7 49.9/49.9/49.9/49.7""",
    },
    "icdar2015": {
        "DetEval": """98.1/99.9/99.0 98.0/98.1/98.0 0.7/1.8/1.0 0.0/0.1/0.1 69.8/74.1/71.9 65.9/70.3/68.0
            65.2/69.3/67.2 73.9/78.2/76.0 74.3/78.6/76.4 74.8/78.8/76.8""",
        "IoU": """100/100/100 100/100/100 100/100/100 0.0/0.0/0.0 97.9/49.0/65.3 0.0/0.0/0.0 0.0/0.0/0.0
            100/50.0/66.7 100/50.0/66.7 100/50.0/66.7""",
        "CLEval": """99.8/99.4/99.6 84.4/99.6/91.4 58.6/99.6/73.8 43.7/99.6/60.8 81.9/98.7/89.5 64.0/97.9/77.4
            49.2/94.1/64.6 81.1/87.4/84.1 81.1/81.9/81.5 81.1/72.6/76.6""",
        "counts": """18/15/5/45/0 11/10/1723/26/0 9/9/4592/17/0 8/8/6246/10/0 1990/18/0/38/88 1988/19/0/36/178
            1994/21/0/35/633 2073/21/0/1574/1 2074/23/0/2431/0 2074/23/0/4157/0""",
    },
}
"""Figures of the paper's Tables 4 to 8, in the order of the cases."""


def main() -> None:
    gt = Path(sys.argv[1])
    published = PUBLISHED[sys.argv[2]] if len(sys.argv) > 2 else {}
    with TemporaryDirectory() as folder:
        toys = Path(folder)
        write_toys(gt, toys)

        def scores(name: str, protocol: str, **parameters: Any) -> dict[str, Any]:
            detections = next(toys.glob(f"{name}.*"))
            return evaluate(gt, detections, protocol, **parameters).scores

        columns: dict[str, list[str]] = {}
        counts: dict[str, list[str]] = {}
        add_published(columns, published, "DetEval")
        columns["icdar2013"] = [percent(scores(name, "icdar2013"), RPH) for name in CASES.values()]
        add_published(columns, published, "IoU")
        columns["iou"] = [percent(scores(name, "iou"), RPH) for name in CASES.values()]
        add_published(columns, published, "CLEval")
        add_published(counts, published, "counts")
        for reference in ("paper", "official"):
            found = [scores(name, "cleval", reference=reference) for name in CASES.values()]
            columns[f"cleval {reference}"] = [percent(each, RPH) for each in found]
            counts[f"cleval {reference}"] = [
                "/".join(str(round(each[name])) for name in COUNTS) for each in found
            ]
        show("Detection: R/P/H in percent", list(CASES), columns)
        show("Attributes: split/merge/miss/overlap/FP", list(CASES), counts)

        columns = {}
        add_published(columns, published, "IoU+CRW")
        columns["iou-crw"] = [percent(scores(name, "iou-crw"), RPH) for name in EDITS.values()]
        add_published(columns, published, "e2e")
        names = (*E2E, "recognition_score")
        columns["cleval official"] = [
            percent(scores(name, "cleval"), names) for name in EDITS.values()
        ]
        columns["popeval"] = [percent(scores(name, "popeval"), RPH) for name in EDITS.values()]
        show("End to end: R/P/H in percent, CLEval with RS", list(EDITS), columns)


def add_published(columns: dict[str, list[str]], published: dict[str, str], name: str) -> None:
    if name in published:
        columns[f"paper: {name}"] = published[name].split()


def percent(scores: dict[str, Any], names: tuple[str, ...]) -> str:
    return "/".join(f"{100 * scores[name]:.2f}" for name in names)


def show(title: str, cases: list[str], columns: dict[str, list[str]]) -> None:
    print(f"{title}\n\n| case | {' | '.join(columns)} |\n|{' --- |' * (len(columns) + 1)}")
    for row in zip(cases, *columns.values(), strict=True):
        print(f"| {' | '.join(row)} |")
    print()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or not set(sys.argv[2:]) <= set(PUBLISHED):
        sys.exit(__doc__)
    try:
        main()
    except EvaltexError as error:
        sys.exit(f"tables.py: {error}")
