"""Two small inputs for the tests of `evaltex validate`, and where it finds problems."""

from pathlib import Path

GT = """img_1
100,200
1,1,"a",f,10,10,60,20
2,2,"b",f,10,40,60,20

img_2
100,200
1,1,"###",t,10,10,60,20
"""
DET = """img_1
1,"a",10,10,60,20
2,"b",10,40,60,20

img_2
"""


def places(found, kind):
    return [
        (Path(p.file).name, p.line, p.image, p.object) for p in found.problems if p.kind == kind
    ]
