"""A page of results and its figures, from published rows alone."""
