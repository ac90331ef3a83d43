"""Every other method of the paper's tables: fixed profiles, rerankers, and those that learn."""
