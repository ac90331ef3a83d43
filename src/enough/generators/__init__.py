"""The frozen language model G: likelihoods of references and one deterministic answer."""
