"""From raw logs to legal histories: readers, download, leakage controls, splits, a toy world."""
