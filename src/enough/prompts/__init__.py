"""From a request and ordered records to the exact tokens of the prompt P_τ(x, S)."""
