"""Put the few records of a user history that are worth their tokens into the prompt, and stop."""
