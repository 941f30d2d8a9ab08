"""Parts of networks that know no family: pooling, mixing, recurrent layers, attention."""
