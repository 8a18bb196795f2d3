"""Lines of object detection: a class, numbers between blanks, one object in each line."""
