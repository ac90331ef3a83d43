"""Records of many users in SQLite or PostgreSQL, their embeddings beside them, and API keys.

`opening.open_store` opens one; `record_store` says what it can do; `values` are what it is given
and gives.
"""
