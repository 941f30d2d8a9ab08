"""polyseme demo: what one vector a word cannot tell apart."""
