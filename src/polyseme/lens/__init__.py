"""Look inside: neighbours, senses, probes."""
