"""Pretraining: from raw text to a Pretrained."""
