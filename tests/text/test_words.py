import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyseme.errors import Mistake
from polyseme.text.words import sentence_ends, split, to_text, words_in
from polyseme.types import Text

UGLY = [
    *"aZ09éßǅ漢あ한ไ߷",
    *" \t\n\r\v\f\x1c\x85\xa0\u2003\u2028\u3000",  # white space of every kind
    *"\x00\x07\x1b\x7f\x9f\ufffe\uffff\U0010ffff",  # controls, no characters
    *"\ud800\udbff\udc00\udfff",  # lone surrogates
    *"\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2066\u2069\u061c\ufeff\u00ad\u2060",  # joiners, direction marks
    *"\u0301\u0308\u20dd\ufe0f\u0e31\u0600",  # marks that combine
    *"👨👩👧👍🏽🇬🇧❤⭐\U000e0067\U000e007f",
    *"'’\"“”`.,;:!?…-‐–—/\\@#&+*()[]{}<>|~^$%_=。！？",
    "http://",
    "www.",
    "n't",
    "'s",
    "U.S.",
    "No. ",
    "x" * 10_000,
    "👨‍👩‍👧‍👦",
]
ugly = st.lists(st.one_of(st.sampled_from(UGLY), st.characters(exclude_categories=())), max_size=60).map("".join)


def words(string):
    return [string[start:end] for start, end in split(string)]


def sentences(string):
    found = words(string)
    ends = sentence_ends(found)
    return [" ".join(found[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def check(string):
    """What holds for the words of any string."""
    before = 0
    for start, end in split(string):
        assert before <= start < end <= len(string)
        assert not any(character.isspace() for character in string[start:end])
        before = end
    found = words(string)
    assert words_in(string) == found
    ends = sentence_ends(found)
    assert ends == sorted(set(ends))
    assert (ends[-1:] == [len(found)]) if found else (ends == [])


@settings(deadline=None, max_examples=10_000)
@given(ugly)
def test_ten_thousand_ugly_documents_have_words_in_order_without_white_space(string):
    check(string)


@settings(deadline=None)
@given(ugly)
def test_no_letter_or_digit_is_lost(string):
    covered = {place for start, end in split(string) for place in range(start, end)}
    assert all(place in covered for place, character in enumerate(string) if character.isalnum())


@settings(deadline=None)
@given(st.text(st.sampled_from("ab1é漢,.;!?'\"- "), max_size=40))
def test_the_ascii_expression_splits_as_the_full_one_does(string):
    plain = "".join(character for character in string if character.isascii())
    assert words(plain + " ü")[:-1] == words(plain + " u")[:-1]


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a-",
        "a'",
        "1.",
        "1.1x",
        "x1.1",
        "a.b",
        "www.",
        "a@",
        "? ",
        'a " a ? " a ',
        "? ' a ' ",
        "a\u0301",
        "👨\u200d",
    ],
)
def test_work_grows_with_the_length_of_the_text_and_no_faster(unit):
    check(unit * (100_000 // len(unit)))  # minutes, if it were quadratic


@pytest.mark.parametrize(
    ("string", "wanted"),
    [
        ("It's a hard nut, isn't it?", "It 's a hard nut , is n't it ?"),
        ("I'd've said they’re THEY'LL", "I 'd 've said they ’re THEY 'LL"),
        ("can't won't doesn’t", "ca n't wo n't does n’t"),
        ("O'Brien said ma'am at five o'clock", "O'Brien said ma'am at five o'clock"),
        ("Give 'em rock 'n' roll; 'tis the '90s", "Give 'em rock 'n' roll ; 'tis the '90s"),
        ("the dogs' bones", "the dogs ' bones"),
        ("Dr. Who, Mrs. Dalloway vs. St. John", "Dr. Who , Mrs. Dalloway vs. St. John"),
        ("the U.S. and the U.S.A, e.g. here", "the U.S. and the U.S.A , e.g. here"),
        ("J. R. R. Tolkien", "J. R. R. Tolkien"),
        ("a Ph.D. or M.Sc. in art", "a Ph.D. or M.Sc. in art"),
        ("born c. 1850, No. 5, pp. 3-4. I said no.", "born c. 1850 , No. 5 , pp. 3-4 . I said no ."),
        ("$1,000.50 at 10:30 on 3/4/1990", "$ 1,000.50 at 10:30 on 3/4/1990"),
        ("a 2.5m wall, 10.30am, 50% off", "a 2.5m wall , 10.30am , 50 % off"),
        ("a 1,000-year-old 3.5-litre 20-30,000", "a 1,000-year-old 3.5-litre 20-30,000"),
        ("Python3.11 and v2.0", "Python3.11 and v2.0"),
        ("well-known state-of-the-art self-", "well-known state-of-the-art self -"),
        ("yes--no, 1907–1934, so—there", "yes -- no , 1907 – 1934 , so — there"),
        ("AT&T likes C++ and C#.", "AT&T likes C++ and C# ."),
        ("See http://a.b/c?d=e, (www.x.org).", "See http://a.b/c?d=e , ( www.x.org ) ."),
        ("Amazon.com, bbc.co.uk or me.too@x.org.", "Amazon.com , bbc.co.uk or me.too@x.org ."),
        ("@you #tag user_name", "@you #tag user_name"),
        ("Fun :-) ;) note: (x)", "Fun :-) ;) note : ( x )"),
        ('"Well," he said, “well.”', '" Well , " he said , “ well . ”'),
        ("Wait... what?! Yes…", "Wait ... what ? ! Yes …"),
        ("naïve cafe\u0301", "naïve cafe\u0301"),
        ("👨‍👩‍👧‍👦👍🏽🇬🇧🇫🇷❤️!", "👨‍👩‍👧‍👦 👍🏽 🇬🇧 🇫🇷 ❤️ !"),
        ("你好，世界。", "你 好 ， 世 界 。"),
        ("한국어 단어", "한국어 단어"),
        ("হিন্দি हिन्दी ไทย", "হিন্দি हिन्दी ไทย"),
        ("a\x00b\u200e c\ufeff", "a b c"),
        ("", ""),
        (" \n\x00", ""),
    ],
)
def test_a_string_is_split_into_the_words_people_see(string, wanted):
    assert " ".join(words(string)) == wanted


@pytest.mark.parametrize(
    ("string", "wanted"),
    [
        ("He left. She stayed.", ["He left .", "She stayed ."]),
        ("He left", ["He left"]),
        ("What?! No way!!! Yes.", ["What ? !", "No way ! ! !", "Yes ."]),
        ("Dr. Who met Mr. Hyde. The end.", ["Dr. Who met Mr. Hyde .", "The end ."]),
        ("in the U.S. Senate", ["in the U.S. Senate"]),
        ("in the U.S. The Senate", ["in the U.S.", "The Senate"]),
        ("He lives in Main St. He likes it.", ["He lives in Main St.", "He likes it ."]),
        ("It is Man vs. The World.", ["It is Man vs. The World ."]),
        ("at 5 p.m. He left at 6 p.m. sharp.", ["at 5 p.m.", "He left at 6 p.m. sharp ."]),
        ("No. I won't. No. 5 is alive.", ["No .", "I wo n't .", "No. 5 is alive ."]),
        ('"Why?" she asked. "Tell me."', ['" Why ? " she asked .', '" Tell me . "']),
        ('"Oh! Good night." The lad ran.', ['" Oh !', 'Good night . "', "The lad ran ."]),
        ("He said 'no.' She left.", ["He said ' no . '", "She left ."]),
        ("(Really.) Yes.", ["( Really . )", "Yes ."]),
        ("Well ... perhaps. Or...", ["Well ... perhaps .", "Or ..."]),
        ("你好。今天？", ["你 好 。", "今 天 ？"]),
        ("It costs 2.5m. 5 men paid.", ["It costs 2.5m .", "5 men paid ."]),
        ("See www.x.org. Then go.", ["See www.x.org .", "Then go ."]),
        ("", []),
    ],
)
def test_sentences_end_where_people_end_them(string, wanted):
    assert sentences(string) == wanted


def test_words_that_are_given_keep_their_places():
    text = to_text(["New York", "is", "big"])
    assert text == Text("New York is big", ((0, 8), (9, 11), (12, 15)))
    assert text.words == ["New York", "is", "big"]
    assert to_text(text) is text


def test_something_else_among_the_words_is_named():
    with pytest.raises(Mistake, match=r"found 3 \(int\) among the words"):
        to_text(["a", 3])


def test_hangul_is_no_ideograph():
    syllables = "".join(chr(point) for point in range(0xAC00, 0xD7A4))
    assert words(syllables) == [syllables]
    assert all(unicodedata.category(character) == "Lo" for character in syllables)
