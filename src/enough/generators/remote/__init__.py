"""A generator behind a URL: likelihoods and answers of a server, checked before they are used."""
