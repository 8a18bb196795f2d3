"""Areas of boxes, polygons and label pictures, in columns."""
