"""What matters? Ablations, and sweeps of one setting at a time."""
