"""An encoder that has learnt which records help which requests, from the frozen generator."""
