"""Offline: matched replacements, utilities, bounded search, backups, labels on disk."""
