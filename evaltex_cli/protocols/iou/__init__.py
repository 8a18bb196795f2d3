"""Protocols that match one to one by intersection over union: IoU, IoU+CRW and TIoU."""
