"""Orders of axes: operators written anew over them, the ways to compute a call, what these cost, the cheapest."""
