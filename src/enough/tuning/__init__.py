"""A small adapter for the frozen generator, so that it can be personalised."""
