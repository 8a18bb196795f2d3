"""Shapes as text files of the field's data sets give them: numbers in a line."""

from __future__ import annotations

LTRB, QUAD, POLYGON = "10,20,30,40", "10,20,30,20,30,40,10,40", "10,20,30,20,30,40,20,50,10,40"
COORDINATES = {"ltrb": LTRB, "quad": QUAD, "polygon": POLYGON}
CURVE = ",".join(
    f"{x},{y}"
    for x, y in [
        *zip(range(0, 70, 10), [0] * 7, strict=True),
        *((x, 9) for x in range(60, -1, -10)),
    ]
)
OFFSETS = "100,200,160,209," + CURVE
