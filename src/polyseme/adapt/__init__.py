"""Adapting: a pretrained encoder and labelled examples to a fitted model."""
