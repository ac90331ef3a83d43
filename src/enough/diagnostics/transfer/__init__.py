"""The same study with another retriever, or another generator."""
