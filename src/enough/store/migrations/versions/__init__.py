"""One file per change, never edited once it is released."""
