"""Heads: vectors in; scores, a loss and decoded answers out."""
