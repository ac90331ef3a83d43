"""From a legal history to a candidate pool C_i of at most M records."""
