"""A small ground truth and its detections in the text format of EvaLTex."""

from __future__ import annotations

GT = 'img_1\n100,200\n1,7,"Tiredness",f,10,20,30,40\n2,7,"",t,50,60,5,5\n'
DET = 'img_1\n1,"",10,20,30,40\n'
