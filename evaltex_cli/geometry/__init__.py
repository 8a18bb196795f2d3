"""Areas, margins and unions, vectorised over many objects. Pure functions over arrays; no protocol knowledge."""
