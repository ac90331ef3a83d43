"""Matched replacements: what other users did where this one did d, found without seeing actions."""
