import json

import pytest

from polyseme.errors import BadData, Mistake
from polyseme.tasks.columns import choose, number
from polyseme.tasks.sheets import open_sheet

FILMS = ["a film to see twice", "so dull that I left", "what a delight it was", "the worst of the year"]


def sheet(folder, columns, rows):
    path = folder / "a.jsonl"
    path.write_text("\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in rows))
    return open_sheet(path)


def csv_sheet(folder, content):
    path = folder / "a.csv"
    path.write_text(content)
    return open_sheet(path)


def names(table, *roles, **chosen):
    places, _ = choose(table, {role: chosen.get(role) for role in roles})
    return tuple(table.columns[places[role]] for role in roles)


@pytest.mark.parametrize(
    "columns, roles, wanted",
    [
        ("id,review,stars", "text,label", "review,stars"),
        ("Label,Text", "text,label", "Text,Label"),
        ("title,text,category,date", "text,label", "text,category"),
        ("idx,sentence,label", "text,label", "sentence,label"),
        ("text_a,text_b,label", "text_a,text_b,label", "text_a,text_b,label"),
        ("hypothesis,premise,gold,label", "text_a,text_b,label", "premise,hypothesis,label"),
        ("id,Question 1,Question-2,is_duplicate,class", "text_a,text_b,label", "Question 1,Question-2,class"),
        ("sentence1,sentence2,score", "text_a,text_b,score", "sentence1,sentence2,score"),
        ("sentence1,sentence2,label", "text_a,text_b,score", "sentence1,sentence2,label"),
        ("text,rating,score", "text,score", "text,score"),
    ],
)
def test_columns_are_known_by_their_names(tmp_path, columns, roles, wanted):
    columns = columns.split(",")
    table = sheet(tmp_path, columns, [[f"{name} {i}" for name in columns] for i in range(4)])
    assert names(table, *roles.split(",")) == tuple(wanted.split(","))


def test_columns_with_other_names_are_known_by_what_is_in_them(tmp_path):
    rows = [[i, "one", film, "ja" if i % 2 else "nein", i / 8] for i, film in enumerate(FILMS)]
    table = sheet(tmp_path, ["nr", "quelle", "meinung", "gut", "wert"], rows)
    assert names(table, "text", "label") == ("meinung", "gut")
    pairs = sheet(tmp_path, ["x", "y", "z"], [[film, film[::-1] + "!", i % 2] for i, film in enumerate(FILMS)])
    assert names(pairs, "text_a", "text_b", "label") == ("x", "y", "z")
    scored = sheet(tmp_path, ["meinung", "wert", "quelle"], [[film, i / 8, "one"] for i, film in enumerate(FILMS)])
    assert names(scored, "text", "score") == ("meinung", "wert")


def test_the_one_column_left_is_the_label_however_few_rows_there_are(tmp_path):
    assert names(csv_sheet(tmp_path, "meinung,gut\nsehr schön,ja\n"), "text", "label") == ("meinung", "gut")


def test_a_guess_is_said_with_how_to_choose(tmp_path):
    table = csv_sheet(tmp_path, "review,stars\ngood,5\n")
    assert choose(table, {"text": None, "label": None})[1] == (
        f"{table.path}: text column 'review', label column 'stars' "
        "(guessed; choose with --text or text_column=, --label or label_column=)",
    )
    assert choose(table, {"text": "review", "score": None})[1] == (
        f"{table.path}: score column 'stars' (guessed; choose with --label or label_column=)",
    )
    assert choose(table, {"text": "review", "label": "stars"})[1] == ()


def test_what_is_chosen_goes_before_what_a_name_says(tmp_path):
    table = csv_sheet(tmp_path, "text,label,title,fine\na,b,c,d\n")
    assert names(table, "text", "label", text="title", label="fine") == ("title", "fine")
    assert names(table, "text", "label", label="text") == ("title", "text")


def test_a_column_that_is_not_there_names_its_neighbour_and_the_others(tmp_path):
    table = csv_sheet(tmp_path, "text,label\na,b\n")
    with pytest.raises(BadData, match=r"no column 'lable'; there are 'text', 'label'\. Did you mean 'label'"):
        choose(table, {"text": None, "label": "lable"})


def test_one_column_for_two_things_is_refused(tmp_path):
    with pytest.raises(Mistake, match="two things: text 'text', label 'text'"):
        choose(csv_sheet(tmp_path, "text,label\na,b\n"), {"text": "text", "label": "text"})


@pytest.mark.parametrize(
    "content",
    [
        "a fine film,positive\na bad film,negative\nwonderful to see,positive\n",
        "gem,jewel,3.94\nmidday,noon,3.5\n",
    ],
)
def test_a_first_line_that_is_data_is_noticed(tmp_path, content):
    table = csv_sheet(tmp_path, content)
    roles = ("text", "label") if "film" in content else ("text_a", "text_b", "score")
    with pytest.raises(BadData, match=r"line 1: the first line looks like data.*text,label"):
        choose(table, dict.fromkeys(roles))


def test_pairs_are_not_taken_for_single_texts(tmp_path):
    table = csv_sheet(tmp_path, "premise,hypothesis,label\na,b,c\n")
    with pytest.raises(BadData, match=r"pairs of texts, 'premise' and 'hypothesis'\. Read it as pairs"):
        choose(table, {"text": None, "label": None})


@pytest.mark.parametrize(
    "columns, rows, role, problem",
    [
        (
            ["text"],
            [["a"]],
            "label",
            "no column looks like the label; there are 'text'. Choose it with --label or label_column=",
        ),
        (["text", "wert"], [["a", 0.5], ["b", 1]], "label", "take the task regress, or target='score'"),
        (["text", "x", "y"], [["a", 1, 2], ["b", 3, 4]], "score", "no column looks like the score"),
        (["label"], [["a"]], "text", "no column looks like the text.*text_column="),
    ],
)
def test_where_nothing_fits_a_person_is_asked(tmp_path, columns, rows, role, problem):
    other = "label" if role == "text" else "text"
    with pytest.raises(BadData, match=problem):
        choose(sheet(tmp_path, columns, rows), {other: None, role: None})


def test_a_number_is_finite_and_written_plainly():
    assert [number(cell) for cell in ("3.5", " -2 ", "1e3", 4, 0.5)] == [3.5, -2.0, 1000.0, 4.0, 0.5]
    for cell in ("", "x", "3,5", "nan", "inf", "-Infinity", "1e999", "1_000", True, None, [1], 10**400, float("nan")):
        assert number(cell) is None
