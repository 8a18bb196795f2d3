"""From two inputs to summed evidence and scores."""
