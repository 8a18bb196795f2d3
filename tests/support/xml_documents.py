"""One small document of each XML format of one image a file, and what is read from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaltex_cli import old_formats as formats
from evaltex_cli.errors import FaultLog
from evaltex_cli.old_formats.base import Side, Source
from evaltex_cli.records import Objects

VOC = """<annotation>
  <folder>images</folder>
  <filename>other.jpg</filename>
  <size><width>640</width><height>480</height><depth>3</depth></size>
  <object>
    <name>text</name>
    <difficult>0</difficult>
    <bndbox><xmin>10</xmin><ymin>20.5</ymin><xmax>110</xmax><ymax>50</ymax></bndbox>
  </object>
  <object>
    <name>text</name>
    <difficult>1</difficult>
    <bndbox><xmax>30</xmax><xmin>200</xmin><ymin>5</ymin><ymax>9</ymax></bndbox>
  </object>
  <object><name>text</name><bndbox><xmin>1</xmin><ymin>100</ymin><xmax>9</xmax><ymax>150</ymax></bndbox></object>
</annotation>
""".replace("<xmax>30</xmax><xmin>200</xmin>", "<xmax>230</xmax><xmin>200</xmin>")
CTW1500 = """<Annotations>
 <image file="0200.jpg">
  <box height="20" left="10" top="30" width="90">
   <label>ÉCOLE</label>
   <segs>10,30,40,30,70,35,100,30,100,50,70,50,40,45,10,50</segs>
   <pts x="20" y="40" />
  </box>
  <box height="20" left="10" top="90" width="90"><label>###</label><segs>10,90,100,90,100,110,10,110</segs></box>
  <box height="20" left="10" top="190" width="90"><label>box</label></box>
 </image>
</Annotations>
"""
SAMPLES = {"voc": VOC, "ctw1500-xml": CTW1500}


class Read:
    """What came of an input."""

    def __init__(self, path: Path, side: Side = "gt", format_name: str | None = None) -> None:
        log = FaultLog()
        self.source: Source = formats.open_source(path, side, log, format_name)
        self.images = self.source.read(np.arange(len(self.source.names)))
        log.extend(self.images.faults)
        self.objects: Objects = self.images.objects
        self.texts = list(self.objects.texts)
        self.warnings = [warning.removeprefix(str(path)) for warning in self.source.warnings]
        self.faults = [str(fault).removeprefix(str(path)) for fault in log.shown]
