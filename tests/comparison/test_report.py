import json
import re
import shutil
import subprocess

import pytest
from toys import reviews, tagged

from polyseme.adapt.data import Data
from polyseme.comparison.compare import compare

HOSTILE = '</script><script>document.title="owned"</script><img src=x onerror=alert(1)> <!--data--> &amp; "\' \ud800'
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def hostile(make_static, make_bert, tmp_path_factory):
    """A page about texts, labels and names that would like to be markup."""
    data = reviews(120)
    labels = [f"{label}<b>{HOSTILE}" for label in data.labels]
    data = Data([f"{text} {HOSTILE}" for text in data.inputs], labels)
    encoders = {f"<i>one{HOSTILE}": make_static(), "two": make_bert()}
    return compare(
        "classify", data, encoders, layers=["top", "mix"], seeds=2, labels=[20, "all"], epochs=2,
        out=tmp_path_factory.mktemp("hostile") / "run", cache=False,
    ).report  # fmt: skip


def markup(html):
    """The page without what its own style and script say, and without its data."""
    return re.sub(r"<(style|script)\b.*?</\1>", "", html, flags=re.S)


def test_what_people_wrote_stays_text(hostile):
    html = hostile.read_text()
    assert html.count("<script") == html.count("</script>") == 2
    outside = markup(html)
    assert "<img" not in outside
    assert "<b>\\u003c" not in outside
    assert "&lt;/script&gt;" in outside
    shown = HOSTILE.encode("utf-8", "replace").decode()
    values = json.loads(re.search(r'id="data">(.*?)</script>', html, re.S)[1])
    assert any(shown in text for group in values["groups"] for one in group["wrong"]["shown"] for text in one["texts"])


def test_nothing_is_asked_from_outside(hostile):
    html = hostile.read_text()
    assert set(re.findall(r"[a-z]+://[^\s\"'`)]+", html)) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "default-src 'none'" in html
    assert not re.search(r"<(link|img|iframe|script)[^>]+(src|href)=(?![\"']data:)", markup(html))


def test_the_page_holds_every_row_and_every_mark_is_filled(hostile):
    html = hostile.read_text()
    assert html.count("<tr class=best>") == 2
    assert html.count("scope='row'") == 6
    assert not re.search(r"<!--(title|summary|table|notes|style|script)-->", html)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("task", ["classify", "tag"])
def test_a_browser_draws_the_page_without_an_error(task, hostile, static, bert, tmp_path):
    path = hostile
    if task == "tag":
        options = {"layers": ["top", "mix"], "seeds": 1, "labels": [20, "all"], "epochs": 1}
        path = compare("tag", tagged(120), [static, bert], out=tmp_path / "tags", **options).report
    watched = tmp_path / "watched.html"
    trap = "<script>window.onerror = (m) => { document.documentElement.dataset.error = m; };</script>"
    watched.write_text(path.read_text().replace("<head>", f"<head>{trap}"))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", f"--user-data-dir={tmp_path / 'profile'}"]  # fmt: skip
    done = subprocess.run(
        [CHROMIUM, *flags, "--dump-dom", watched.as_uri()], capture_output=True, text=True, timeout=60, check=True
    )
    assert "data-error" not in done.stdout
    assert "owned" not in re.search("<title>(.*?)</title>", done.stdout)[1]
    assert done.stdout.count("<polyline") > 2
    assert "<figcaption>" in done.stdout
    assert 'class="matrix"' in done.stdout
