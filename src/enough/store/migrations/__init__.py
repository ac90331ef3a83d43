"""Changes to the tables over time, run by Alembic when a store is opened."""
