"""For whom, and under what, does it hold? The robustness ladder and subgroups."""
