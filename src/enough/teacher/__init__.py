"""The offline teacher: utilities, bounded search, backups, the exact oracle."""
