"""Adapters to what apps have already: plain dictionaries, mem0, LangChain, LlamaIndex.

Histories and documents of others go in, `Records` for a task come out, and back. One file each; a
library is imported only by its own file, and each has an extra of its name.
"""
