"""Selectors that need no learning: empty and fixed-k profiles."""
