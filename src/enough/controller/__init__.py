"""The small multi-head value controller: features, model, losses, training, checkpoints."""
