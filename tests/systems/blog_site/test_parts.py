"""Functions of the site sanitize Markdown, sign values, limit rates and process forms."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from keyplan.errors import ErrorDetail, Refused
from keyplan_systems.blog.site import application
from keyplan_systems.blog.site.site import Site
from keyplan_systems.site import highlighting
from keyplan_systems.site.incoming import Form, local_path
from keyplan_systems.site.limits import Gate, Limit, RateLimiter, TooBusy
from keyplan_systems.site.markdown import is_rendered, render_markdown, without_title
from keyplan_systems.site.signing import Signer, random_token
from tests.seeds import examples

TASKS = """<ul>
<li class="task"><span class="task done">☑</span> <em>a</em></li>
<li class="task"><span class="task">☐</span> b</li>
<li>[] c</li>
</ul>"""
COLOURED = """<pre class="language-python" tabindex="0"><code>x <span class="o">&lt;</span> <span class="mi">1</span>
</code></pre>"""


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# One", '<h2 id="one">One</h2>'),
        ("###### Six", '<h2 id="six">Six</h2>'),
        (
            "## A\n\n#### B\n\n# A\n\n###### What's *new*? {#d_e}",
            '<h2 id="a">A</h2>\n<h3 id="b">B</h3>\n<h2 id="a-1">A</h2>\n<h3 id="de">What\'s <em>new</em>?</h3>',
        ),
        ('<h2 id="page_comments">x</h2><span class="button">x</span>', "<h2>x</h2><span>x</span>"),
        ("- [x] *a*\n- [ ] b\n- [] c", TASKS),
        ("```text\n<b>\n```", '<pre class="language-text" tabindex="0"><code>&lt;b&gt;\n</code></pre>'),
        ("*a* **b** ~~c~~ `d`", "<p><em>a</em> <strong>b</strong> <s>c</s> <code>d</code></p>"),
        ("<b>x</b><u>y</u>", "<p><b>x</b>y</p>"),
        ("<script>alert(1)</script>", ""),
        ("<style>p{}</style>", ""),
        ("<iframe src='https://e.example'></iframe>x", "x"),
        ("<form action=/sign-out method=post><button>x</button></form>", "x"),
        ('<a href="javascript:x">a</a>', '<p><a rel="nofollow ugc noopener noreferrer">a</a></p>'),
        ('<a href="JAVA&#10;script:x">a</a>', '<p><a rel="nofollow ugc noopener noreferrer">a</a></p>'),
        ('<a href="data:text/html,x">a</a>', '<p><a rel="nofollow ugc noopener noreferrer">a</a></p>'),
        ('<p onclick="x" style="x" id="main" class="top">a</p>', "<p>a</p>"),
        ('<div class="wide" tabindex="5">a</div>', '<div class="wide">a</div>'),
        ('<code class="language-x">a</code><B\nclass=x>b</B>', "<p><code>a</code><b>b</b></p>"),
        ('<pre class="language-x top">a</pre>', "<pre>a</pre>"),
        ("```python\nx < 1\n```", COLOURED),
        ("    x", '<pre tabindex="0"><code>x\n</code></pre>'),
        ("<!-- hidden -->", ""),
        ("&lt;script&gt;", "<p>&lt;script&gt;</p>"),
    ],
)
def test_markdown_is_rendered_as_sanitized_html(text: str, html: str) -> None:
    assert render_markdown(text).strip() == html


def test_rendered_links_and_images_send_no_referrer() -> None:
    html = render_markdown("[a](https://e.example) ![b](https://e.example/p.png) ![c](http://e.example/p.png)")
    assert 'rel="nofollow ugc noopener noreferrer"' in html
    assert 'loading="lazy" referrerpolicy="no-referrer"' in html or 'referrerpolicy="no-referrer"' in html
    assert "http://e.example/p.png" not in html


def test_definition_lists_are_rendered() -> None:
    assert '<dt id="term">Term</dt>\n<dd>What it <em>means</em>.</dd>' in render_markdown("Term\n: What it *means*.\n")


def test_urls_and_footnotes_are_rendered_as_links() -> None:
    html = render_markdown("See https://e.example/a_b, e.example, a@e.example.[^1]\n\n[^1]: A *note*.")
    assert '<a href="https://e.example/a_b" rel=' in html
    assert html.count("<a ") == 3
    assert '<sup class="footnote-ref"><a href="#fn1" id="fnref1"' in html
    assert '<li id="fn1" class="footnote-item"><p>A <em>note</em>.' in html


@pytest.mark.parametrize(
    "address", ["https://e.example/a", "HTTP://e.example", "mailto:a@e.example", "MAILTO:a@e.example"]
)
def test_bare_urls_are_rendered_as_links_in_any_position(address: str) -> None:
    for text in (address, f"See {address}, please.", f"- one\n- *{address}*"):
        assert f'<a href="{address}" rel=' in render_markdown(text)


def test_preloading_the_highlighting_languages_loads_every_language() -> None:
    """Loading a language on first use blocked all requests for up to 0.2 s."""
    highlighting.prepare()
    made = highlighting._lexer.cache_info().misses
    for language in sorted(highlighting.LANGUAGES):
        assert highlighting.highlighted("x = 1\n", language, {})
    assert highlighting._lexer.cache_info().misses == made


def test_starting_the_site_loads_the_highlighting_languages(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(application, "prepare", lambda: done.append("prepared"))
    with TestClient(application.site_application(site)) as client:
        assert done == ["prepared"]
        client.get("/robots.txt")
    assert done == ["prepared"]


INTRICATE = {"![": True, "[": True, "[a](": True, "# a\n": True, "**a": False, "> ": False, "|a|\n|-|\n": False}


@pytest.mark.parametrize(("piece", "is_refused"), INTRICATE.items())
def test_markdown_that_is_too_complex_is_shown_unrendered(piece: str, is_refused: bool) -> None:
    text = (piece * 20_000)[:20_000]
    html = render_markdown(text)
    assert ("the source is shown" in html, piece.strip() in html) == (is_refused, is_refused or piece.strip() in html)
    assert is_rendered(text)


def test_code_over_the_size_limit_is_not_highlighted() -> None:
    assert "<span" in render_markdown("```json\n[1]\n```")
    assert "<span" not in render_markdown(f"```json\n{'[1]' * 200}\n```")
    assert "<span" not in render_markdown(f"```json\n{'[1]' * 30 + chr(10)}" * 300 + "```")


def test_rendered_tables_are_scrollable_and_keep_their_alignment() -> None:
    html = render_markdown("| a | b |\n|:-:|--:|\n| 1 | 2 |")
    assert html.startswith('<div class="wide" tabindex="0"><table>')
    assert '<th class="center">a</th>' in html
    assert '<td class="right">2</td>' in html
    assert "<td></td>\n<th>a</th>" in render_markdown("| | a |\n|---|---|\n| 1 | 2 |")


@pytest.mark.parametrize(
    "text",
    [
        "[a]: https://e.example/" + "b" * 20_000 + "\n\n" + "[a] " * 5_000,
        "<p>" + "".join(f"<b a{number}>" for number in range(300)) + "</p>" + "<p>x" * 2_000,
        "<p>" + "".join(f'<code class="language-{number}">' for number in range(300)) + "</p>" + "<p>x" * 2_000,
        "<p>" + "<b><i><s><em><code><small><strong><u><tt><font><big>" * 9 + "</p>" + "<p>x" * 20_000,
    ],
)
def test_the_length_of_rendered_markdown_is_limited(text: str) -> None:
    assert len(render_markdown(text)) < 20 * len(text) + 1_500_000


def test_a_text_with_a_thousand_reference_links_is_rendered() -> None:
    html = render_markdown("[a]: https://e.example/\n\n" + "[a] " * 1_000)
    assert html.count('href="https://e.example/"') == 1_000


@settings(max_examples=examples(80, 150), deadline=None)
@given(st.text(max_size=200) | st.text(alphabet="<>\"'/ =aonscriptjv:()[]!`#*&;\n", max_size=120))
def test_random_markdown_renders_no_script(text: str) -> None:
    html = render_markdown(text).lower()
    assert "<script" not in html
    assert "<style" not in html
    inside = [piece.partition(">")[0] for piece in html.split("<")[1:]]
    assert not [word for word in inside if " on" in word.partition('"')[0] or 'href="javascript' in word]


@pytest.mark.parametrize(
    ("text", "title", "left"),
    [
        ("# A b\n\nText", "A b", "\nText"),
        ("\n\n#  A b ##\nText", "A b", "Text"),
        ("# A b", "A b", ""),
        ("# Another\nText", "A b", "# Another\nText"),
        ("## A b\nText", "A b", "## A b\nText"),
        ("A b", "A b", "A b"),
    ],
)
def test_a_first_heading_equal_to_the_title_is_removed(text: str, title: str, left: str) -> None:
    assert without_title(text, title) == left


def test_a_signature_is_valid_only_for_its_purpose_value_and_secret() -> None:
    signer = Signer(b"a" * 32)
    signed = signer.sign("session", "a.b")
    assert signer.unsign("session", signed) == "a.b"
    assert signer.unsign("identity", signed) is None
    assert Signer(b"b" * 32).unsign("session", signed) is None
    for other in ("", ".", "a.b", signed + "x", signed[:-1], "b" + signed, "\ud800." + signed, "é.é"):
        assert signer.unsign("session", other) is None
    assert random_token() != random_token()
    with pytest.raises(ValueError, match="16 bytes"):
        Signer(b"short")


def test_a_token_is_valid_only_for_its_purpose_until_it_expires() -> None:
    """A string in the format of an earlier version is rejected, even if its signature is valid."""
    signer = Signer(b"a" * 32)
    token = signer.pack("reset", {"user": "é"}, 100)
    assert signer.unpack("reset", token, 99) == {"user": "é"}
    for purpose, other, at in (("reset", token, 100), ("join", token, 99), ("reset", signer.sign("reset", "1.a.b"), 0)):
        assert signer.unpack(purpose, other, at) is None


def test_a_rate_limit_refills_over_time() -> None:
    now = [0.0]
    limiter = RateLimiter(Limit(attempts=3, seconds=30), lambda: now[0])
    assert [limiter.wait_seconds("a") for _ in range(4)] == [0, 0, 0, 10]
    assert limiter.wait_seconds("b") == 0
    now[0] = 10
    assert limiter.wait_seconds("a") == 0
    assert limiter.wait_seconds("a") == 10
    now[0] = 9  # a clock that is set back changes nothing
    assert limiter.wait_seconds("a") == 10
    assert limiter.wait_seconds("b", "a") == 10
    assert [limiter.wait_seconds("b") for _ in range(2)] == [0, 0]  # a rejected request consumes nothing


def test_expensive_requests_consume_more_of_the_rate_limit() -> None:
    limiter = RateLimiter(Limit(attempts=10, seconds=100), lambda: 0.0)
    assert limiter.wait_seconds("a", cost=7.5) == 0
    assert limiter.wait_seconds("a", cost=7.5) == 50
    assert limiter.wait_seconds("a", cost=2.5) == 0
    assert limiter.wait_seconds("b", cost=1000) == 0  # all available tokens


def test_the_rate_limiter_keeps_a_bounded_number_of_keys() -> None:
    limiter = RateLimiter(Limit(attempts=1, seconds=60), lambda: 0.0, keys_max=10)
    for number in range(100):
        limiter.wait_seconds(str(number))
    assert len(limiter._buckets) == 10
    assert limiter.wait_seconds("99") > 0


def test_a_concurrency_limit_queues_some_requests_and_rejects_the_rest() -> None:
    gate = Gate(1, 1)
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with gate:
            inside.set()
            leave.wait(20)

    first = threading.Thread(target=stay)
    first.start()
    inside.wait(20)
    second = threading.Thread(target=stay)
    second.start()
    while gate._places._value:
        time.sleep(0.001)
    with pytest.raises(TooBusy), gate:
        pass
    leave.set()
    first.join()
    second.join()
    with gate:
        pass


def test_errors_of_a_write_are_mapped_to_form_fields() -> None:
    form = Form({"email": "x", "name": "y"})
    faults = [
        ErrorDetail("account.email", "taken", "choose another"),
        ErrorDetail("", "and this"),
        ErrorDetail("Blog.other", "lost?"),
    ]
    form.take(Refused("no", place="account", errors=faults))
    assert form.faults == {"email": "taken; choose another", "": "and this"}
    single = Form({"slug": "x"})
    single.take(Refused("taken", place="Blog.slug"))
    assert single.faults == {"slug": "taken"}


@given(st.text(max_size=60))
def test_random_redirect_targets_become_paths_of_the_site(text: str) -> None:
    path = local_path(text)
    assert path.startswith("/")
    assert not path.startswith(("//", "/\\"))
    assert path.isprintable()
