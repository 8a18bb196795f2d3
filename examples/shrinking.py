"""A detection that shrinks inside its word, under four protocols: Fig. 14 of the EvaLTex paper,
measured again.

    python examples/shrinking.py [FOLDER]

prints recall and precision at each width, and draws ``shrinking-recall.svg`` and
``shrinking-precision.svg`` in FOLDER.
"""

import sys
from pathlib import Path

from evaltex_cli import Accumulator
from evaltex_cli.protocols.base import Plot
from evaltex_cli.results.line_chart import svg

WORD = [[0, 0, 2000, 400]]
SHARES = [share / 100 for share in range(100, 0, -1)]
PROTOCOLS = {
    "EvaLTex": ("evaltex", {"det_border": 0.0}),
    "DetEval": ("deteval", {}),
    "relaxed": ("deteval", {"preset": "relaxed"}),
    "AUC": ("deteval", {"preset": "auc"}),
}


def scores_at(share: float, protocol: str, parameters: dict) -> tuple[float, float]:
    """Recall and precision where the detection keeps this share of the word's width."""
    accumulator = Accumulator(protocol, params=parameters)
    accumulator.update(WORD, [[0, 0, 2000 * share, 400]])
    scores = accumulator.compute().scores
    return scores["recall"], scores["precision"]


def measure() -> dict[str, list[tuple[float, float]]]:
    """Label -> recall and precision at each of `SHARES`."""
    return {label: [scores_at(share, *how) for share in SHARES] for label, how in PROTOCOLS.items()}


def main(folder: Path) -> None:
    measured = measure()
    print("share  " + "  ".join(f"{label:>15}" for label in measured))
    for k in range(0, len(SHARES), 10):
        pairs = "  ".join(
            f"{recall:.4f} / {precision:.4f}"
            for recall, precision in (m[k] for m in measured.values())
        )
        print(f"{SHARES[k]:5.2f}  {pairs}")
    for which, name in enumerate(("recall", "precision")):
        lines = {label: [pair[which] for pair in pairs] for label, pairs in measured.items()}
        plot = Plot(
            name,
            f"{name.capitalize()} of a detection that shrinks",
            "share of the word detected",
            name,
            SHARES,
            lines,
        )
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"shrinking-{name}.svg").write_text(svg(plot), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
