"""The online policy: one controller decision after the other, no language model in reach."""
