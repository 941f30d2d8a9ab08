"""Models behind HTTP: the protocols of OpenAI and of Text Embeddings Inference, and our own."""
