import json
import re

import pytest

from polyseme.errors import BadData
from polyseme.tasks.examples import Question
from polyseme.tasks.squad import read_questions

CONTEXT = "Zoë 🙂 met Kim in Rome. Rome was hot."
CONTENT = {
    "version": "1.1",
    "data": [
        {
            "title": "t",
            "paragraphs": [
                {
                    "context": CONTEXT,
                    "qas": [
                        {"id": "q1", "question": "Who?", "answers": [{"text": "Kim", "answer_start": 10}]},
                        {"id": "q2", "question": "Where?", "answers": [{"text": "Rome", "answer_start": 17}] * 2},
                    ],
                }
            ],
        }
    ],
}


def write(folder, content):
    path = folder / "a.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def changed(change):
    content = json.loads(json.dumps(CONTENT))
    paragraph = content["data"][0]["paragraphs"][0]
    change(content, paragraph, paragraph["qas"][1], paragraph["qas"][1]["answers"][1])
    return content


def test_answers_are_spans_of_characters(tmp_path):
    dataset = read_questions(write(tmp_path, CONTENT))
    assert dataset.examples == (
        Question("q1", CONTEXT, "Who?", ((10, 13),)),
        Question("q2", CONTEXT, "Where?", ((17, 21), (17, 21))),
    )
    start, end = dataset.examples[0].answers[0]
    assert CONTEXT[start:end] == "Kim"


def test_a_question_of_squad_2_may_have_no_answer(tmp_path):
    content = changed(lambda _, __, asked, ___: asked.update(is_impossible=True, answers=[]))
    assert read_questions(write(tmp_path, content)).examples[1].answers == ()
    content = changed(lambda _, __, asked, ___: asked.update(is_impossible=False))
    assert len(read_questions(write(tmp_path, content)).examples[1].answers) == 2


def test_answers_may_be_missing_where_they_are_not_wanted(tmp_path):
    path = write(tmp_path, changed(lambda _, __, asked, ___: asked.pop("answers")))
    assert [question.answers for question in read_questions(path, answered=False).examples] == [(), ()]


ASKED = "data[0].paragraphs[0].qas[1]"


@pytest.mark.parametrize(
    "change, problem",
    [
        (lambda c, *_: c.pop("data"), "the file: there is no 'data'; found 'version'."),
        (lambda c, *_: c.update(data={}), "the file.data: found {}; wanted a list."),
        (lambda c, *_: c.update(data=[3]), "data[0]: found 3; wanted an object."),
        (lambda c, *_: c.update(data=[]), "it has no questions"),
        (lambda c, p, *_: p.pop("context"), "data[0].paragraphs[0]: there is no 'context'; found 'qas'."),
        (lambda c, p, *_: p.update(context=" "), "data[0].paragraphs[0].qas[0]: the context is empty"),
        (lambda c, p, q, a: q.pop("id"), f"{ASKED}: there is no 'id'"),
        (lambda c, p, q, a: q.update(id=7), f"{ASKED}.id: found 7; wanted a string."),
        (lambda c, p, q, a: q.update(id="q1"), "two questions have the id 'q1'"),
        (lambda c, p, q, a: q.update(question=""), f"{ASKED}: the question is empty"),
        (lambda c, p, q, a: q.update(answers=[]), f"{ASKED}: there are no answers. Add one, or set is_impossible"),
        (lambda c, p, q, a: q.update(is_impossible=True), f"{ASKED}: is_impossible is true, yet there are answers"),
        (lambda c, p, q, a: q.update(is_impossible=1), f"{ASKED}.is_impossible: found 1; wanted true or false."),
        (lambda c, p, q, a: q.update(answers="Rome"), f"{ASKED}.answers: found 'Rome'; wanted a list."),
        (
            lambda c, p, q, a: a.update(answer_start="17"),
            f"{ASKED}.answers[1].answer_start: found '17'; wanted a whole",
        ),
        (lambda c, p, q, a: a.update(answer_start=True), f"{ASKED}.answers[1].answer_start: found True"),
        (lambda c, p, q, a: a.update(text=""), f"{ASKED}.answers[1]: the answer is empty"),
        (lambda c, p, q, a: a.update(text="\ud83d"), f"{ASKED}.answers[1].text holds half a surrogate pair"),
        (
            lambda c, p, q, a: a.update(answer_start=10),
            f"{ASKED}.answers[1]: at answer_start 10 of the context stands 'Kim '; wanted 'Rome', which is found at "
            "17, 23. Correct answer_start.",
        ),
        (
            lambda c, p, q, a: a.update(answer_start=99),
            f"answer_start 99 is outside the context, which has {len(CONTEXT)} characters; wanted 'Rome'",
        ),
        (lambda c, p, q, a: a.update(answer_start=-4), "answer_start -4 is outside the context"),
        (lambda c, p, q, a: a.update(text="Paris"), "wanted 'Paris', which is nowhere in it"),
        (lambda c, p, q, a: a.update(answer_start=21), "It seems to count bytes; wanted characters."),
        (lambda c, p, q, a: a.update(answer_start=18), "It seems to count UTF-16 units; wanted characters."),
    ],
)
def test_what_is_wrong_is_named_by_its_place_in_the_file(tmp_path, change, problem):
    path = write(tmp_path, changed(change))
    with pytest.raises(BadData, match=re.escape(problem)):
        read_questions(path)


@pytest.mark.parametrize(
    "content, problem",
    [
        ('{"data":\n[}', "line 2: it is not JSON: Expecting value at character 2"),
        ("", "it is not JSON"),
        ('{"data": [], "data": []}', "the key 'data' twice"),
        ("[" * 100_000, "nested too deep"),
        ("[1]", "the file: found [1]; wanted an object"),
    ],
)
def test_what_is_no_json_is_refused(tmp_path, content, problem):
    with pytest.raises(BadData, match=re.escape(problem)):
        read_questions(write(tmp_path, content))
