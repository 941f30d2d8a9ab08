"""Strings to Batches: words, vocabularies, corpora, shards, batches; no nn.Module."""
