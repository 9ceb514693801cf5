"""What sites of generators say in ways of their own: shortcodes with templates, ids of headings, marks of code."""

from __future__ import annotations

from pathlib import Path

from keyplan_systems.blog.design import Blog
from keyplan_systems.shortcodes import filled
from tests.systems.blog.test_loader import content, loaded

HEAD = "---\ndate: 2024-01-01\n---\n"


def said(blog: Blog, tmp_path: Path, files: dict[str, str]) -> list[tuple[str, str]]:
    return [(fault.place, fault.message) for fault in loaded(blog, tmp_path, files).errors]


def test_a_sites_own_shortcodes_are_filled_in_where_they_only_say_values(blog: Blog, tmp_path: Path) -> None:
    files = {
        "hugo.json": '{"title": "T"}',
        "layouts/shortcodes/rem.html": "{{/* says nothing */}}\n",
        "layouts/shortcodes/icon.html": "<i>{{ .Get 0 | safeHTML }}</i>",
        "layouts/_shortcodes/color.html": '<em title="{{- .Get "name" -}}">\n{{- .Inner -}}\n</em>',
        "layouts/shortcodes/clever.html": "{{ if .Get 0 }}yes{{ end }}",
        "content/a.md": (
            f'{HEAD}# {{{{< icon "*" >}}}} Title\n\n{{{{< rem "made by a\nprogram" >}}}}\n\n'
            'A {{< color name="red" >}}word{{< /color >}}, {{< clever 1 >}}, {{< unknown 1 >}}.\n\n'
            '{{< figure\n  src="/p.png"\n  alt="P"\n>}}\n'
        ),
    }
    messages = said(blog, tmp_path, files)
    made = content(blog, "a")
    assert "# <i>*</i> Title" in made
    assert "made by" not in made
    assert 'A <em title="red">word</em>, {{< clever 1 >}}, {{< unknown 1 >}}.' in made
    assert "![P](/p.png)" in made
    assert [message for _, message in messages if "{{" in message] == [
        "{{< clever >}} stands in the text as it is",
        "{{< unknown >}} stands in the text as it is",
    ]


def test_templates_that_do_more_than_say_values_are_left_alone() -> None:
    assert filled("{{ range .Params }}{{ . }}{{ end }}", {}, None) is None
    assert filled('<a href="{{ .Get "to" | safeURL }}">\n {{ .Get `as` }}</a>', {"to": "/x", "as": "X"}, None) == (
        '<a href="/x"> X</a>'
    )
    assert filled("{{ .Params.name }}: {{ .Get 1 }}{{ .Get 7 }}", {"name": "N", "1": "one"}, None) == "N: one"


def test_a_shortcode_over_several_lines_that_nobody_knows_is_told(blog: Blog, tmp_path: Path) -> None:
    text = f"{HEAD}{{{{< rem `addresses that were\ntaken out here` >}}}}\n"
    assert said(blog, tmp_path, {"a.md": text}) == [("a.md", "{{< rem >}} stands in the text as it is")]


def test_links_lead_to_the_one_heading_with_their_letters_and_digits(blog: Blog, tmp_path: Path) -> None:
    files = {
        "docs.md": f"{HEAD}## --fast-list\n\n## --config=FILE\n\n## ab c\n\n## a bc\n\n[here](#fast-list) [2](#abc)\n",
        "a.md": f"{HEAD}[list](docs.md#fast-list) [file](docs.md#config-file) [gone](docs.md#slow-list)\n",
    }
    assert said(blog, tmp_path, files) == [
        ("a.md", "'/posts/docs#slow-list' leads to no heading there"),
        ("docs.md", "'#abc' leads to no heading there"),
    ]
    assert "[list](/posts/docs#--fast-list) [file](/posts/docs#--configfile)" in content(blog, "a")
    assert "[here](#--fast-list)" in content(blog, "docs")


def test_a_heading_closed_by_marks_keeps_its_id_and_not_the_marks(blog: Blog, tmp_path: Path) -> None:
    text = "# Metadata\n\n-----\n\nText.\n\n## Name (*required*) ## {: #name }\n\n[n](#name)\n\n---\n\nEnd.\n"
    assert [message for _, message in said(blog, tmp_path, {"a.md": text}) if "no date" not in message] == []
    made = content(blog, "a")
    assert made.startswith("Text.")
    assert "## Name (*required*) {#name}\n" in made
    assert "\n---\n" in made


def test_what_stands_behind_a_codes_language_is_told(blog: Blog, tmp_path: Path) -> None:
    info = 'title="a.js" {1,3} showLineNumbers live hl_lines="2"'
    text = f"{HEAD}```toml config-example\nx\n```\n\n```js {info}\ny\n```\n"
    assert said(blog, tmp_path, {"a.md": text}) == [
        ("a.md", "a code's mark (config-example) is left out"),
        ("a.md", "a code's mark (live) is left out"),
        ("a.md", "a code's mark (hl_lines) is left out"),
    ]
