"""Small labelled data that anything can learn, for tests."""

import random

from polyseme.adapt.data import Data

GOOD, BAD = ["good", "great", "early"], ["bad", "awful", "not"]


def reviews(n=80, seed=0):
    draw = random.Random(seed)
    texts, labels = [], []
    for number in range(n):
        words = GOOD if number % 2 else BAD
        texts.append(f"the film was {draw.choice(words)} , the movie is {draw.choice(words)} .")
        labels.append("pos" if number % 2 else "neg")
    return Data(texts, labels)


def tagged(n=60, seed=0):
    draw = random.Random(seed)
    inputs, labels = [], []
    for _ in range(n):
        who, where = draw.choice(["John", "Mary"]), draw.choice(["London", "Paris"])
        inputs.append([who, "visited", where, "at", "night", "."])
        labels.append(["I-PER", "O", "I-LOC", "O", "O", "O"])  # IOB1
    return Data(inputs, labels)


def questions(n=60, seed=0):
    draw = random.Random(seed)
    inputs, labels = [], []
    for _ in range(n):
        who, where = draw.choice(["John", "Mary"]), draw.choice(["London", "Paris"])
        context = f"at night {who} visited {where} early ."
        inputs.append(("where ?", context))
        start = context.index(where)
        labels.append([(start, start + len(where))])
    return Data(inputs, labels)
