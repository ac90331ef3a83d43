"""The whole story on a made-up world: label, train, aggregate, compare, and look at one request."""
