"""What profiles do: rows per request first, tables derived from them."""
