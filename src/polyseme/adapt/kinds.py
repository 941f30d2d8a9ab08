"""The tasks by name, each made from labels or from what a folder says."""

from __future__ import annotations

from typing import Any

from polyseme.adapt.answers import Answers
from polyseme.adapt.classes import Classes
from polyseme.adapt.data import Data
from polyseme.adapt.kind import Kind
from polyseme.adapt.numbers import Numbers
from polyseme.adapt.settings import Settings
from polyseme.adapt.tagging import Tags
from polyseme.adapt.texts import Texts, is_pair
from polyseme.encoders import Pretrained
from polyseme.errors import Mistake, did_you_mean, listed

TASKS = ("classify", "pair", "regress", "tag", "span")


def kind_for(task: str, data: Data, pretrained: Pretrained, settings: Settings) -> Kind:
    """The task, having seen its labels."""
    check_task(task)
    if task == "tag":
        return Tags.learn(data)
    if task == "span":
        return Answers.learn(data, pretrained, settings)
    paired = task == "pair" or (task == "regress" and is_pair(data.inputs[0]))
    texts = Texts.of(data.inputs, pretrained, settings, paired)
    return Numbers.learn(data, texts) if task == "regress" else Classes.learn(data, texts)


def kind_of(task: str, facts: dict[str, Any]) -> Kind:
    """The task as `Kind.facts` described it."""
    check_task(task)
    if task == "tag":
        return Tags(tuple(facts["names"]), facts["spans"])
    if task == "span":
        return Answers(facts["pairs"])
    texts = Texts(facts["pairs"])
    if task == "regress":
        return Numbers(texts)
    return Classes(tuple(facts["names"]), texts, facts.get("label_type", "str"))


def check_task(task: str) -> None:
    if task not in TASKS:
        raise Mistake(f"There is no task {task!r}; there are {listed(TASKS)}.{did_you_mean(task, TASKS)}")
