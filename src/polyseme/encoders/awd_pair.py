"""A forward and a backward AWD-LSTM as one Pretrained."""

import torch

from polyseme.encoders.awd_lstm import (
    AwdLstmEncoder,
    BidirectionalAwdLstm,
    BidirectionalDecoder,
    TiedDecoder,
)
from polyseme.encoders.pretrained import Pretrained
from polyseme.errors import Mistake
from polyseme.text.marked import MarkedWords


def pair(forward: Pretrained, backward: Pretrained) -> Pretrained:
    """Both side by side. The weights are theirs, not copies; the dropouts are the forward model's."""
    ahead, words = _direction(forward, reverse=False)
    back, other_words = _direction(backward, reverse=True)
    if words != other_words:
        raise Mistake(
            f"The two models have different vocabularies, of {len(words)} and {len(other_words)} words. "
            "Give one the words of the other first: with_vocabulary(backward, forward.tokenizer.words)."
        )
    if ahead.widths != back.widths:
        raise Mistake(f"The two models have layers of widths {ahead.widths} and {back.widths}. They must be equal.")
    with torch.device("meta"):  # takes no memory, nor any random numbers
        encoder = BidirectionalAwdLstm(ahead.config.model_copy(update={"bidirectional": True}))
    encoder.forward_model, encoder.backward_model = ahead, back
    provenance = {"forward": forward.provenance, "backward": backward.provenance}
    return Pretrained(MarkedWords(words), encoder, provenance, _decoders(encoder, forward, backward))


def apart(both: Pretrained) -> tuple[Pretrained, Pretrained]:
    """The forward and the backward model of a pair; the weights are the pair's, not copies."""
    if not isinstance(both.encoder, BidirectionalAwdLstm) or not isinstance(both.tokenizer, MarkedWords):
        raise Mistake(f"apart() takes a pair of AWD-LSTMs; found {type(both.encoder).__name__}.")
    lm = both.lm if isinstance(both.lm, BidirectionalDecoder) else None
    words, origin = both.tokenizer.words, both.provenance
    return (
        Pretrained(
            MarkedWords(words),
            both.encoder.forward_model,
            origin.get("forward", origin),
            None if lm is None else lm.forward_decoder,
        ),
        Pretrained(
            MarkedWords(words, reverse=True),
            both.encoder.backward_model,
            origin.get("backward", origin),
            None if lm is None else lm.backward_decoder,
        ),
    )


def _direction(pretrained: Pretrained, reverse: bool) -> tuple[AwdLstmEncoder, tuple[str, ...]]:
    encoder, tokenizer = pretrained.encoder, pretrained.tokenizer
    name = "backward" if reverse else "forward"
    if not isinstance(encoder, AwdLstmEncoder) or not isinstance(tokenizer, MarkedWords):
        raise Mistake(f"The {name} model of a pair must be one AWD-LSTM; found {type(encoder).__name__}.")
    if tokenizer.reverse != reverse:
        raise Mistake(
            f"The {name} model's tokenizer has reverse={tokenizer.reverse}; it must be {reverse}. "
            "Give the forward model first."
        )
    return encoder, tokenizer.words


def _decoders(encoder: BidirectionalAwdLstm, forward: Pretrained, backward: Pretrained) -> BidirectionalDecoder | None:
    if not isinstance(forward.lm, TiedDecoder) or not isinstance(backward.lm, TiedDecoder):
        return None
    with torch.device("meta"):
        decoders = BidirectionalDecoder(encoder.config)
    decoders.forward_decoder, decoders.backward_decoder = forward.lm, backward.lm
    return decoders
