"""The Markdown of site generators is converted: links, images and code are kept, and other tags become placeholders."""

from __future__ import annotations

import pytest

from keyplan_systems.plain_markdown import plain_markdown

KEPT = {
    "links": "[a](b.md#c) ![d](e.png) [`f`](g_(h).md) [two\nlines](<i j.md>)\n\n[k]: l.md\n\n`[no](m)` \\[no](n)",
    "code": "```js\n{{ x }} :::\n```\n\n    {% y %}\n\n`{{ z }}`",
    "headings": "# A {#own}\n\nB\n===\n",
    "no tags": "a { b } {{}} {c d}, x_{{1}} and f(x){y}\n\n:::tip\nText.\n:::\n",
    "a tag that doesn't end": "{{< figure src='a'\n\n{% raw",
}
"""Texts that stay as they are."""
CONVERTED = {
    '[x]({{< ref "b.md#c" >}}) [y]({{ site.baseurl }}{% link _d/e.md %})': "[x](b.md#c) [y](_d/e.md)",
    "[z]({{ page.next.url }})\n\n[r]: {{% url x %}}": "[z]()\n\n[r]: #",
    "<a href=\"{{ '/f/' | relative_url }}\">f</a>": '<a href="/f/">f</a>',
    '{{< figure src="a b.png" caption="A [b]" >}}': "![A (b)](<a b.png>)",
    "{{< youtube id=1 >}} {{ tweet(id='2') }} {% include_x %}": r"\[youtube\] \[tweet\] \[include\_x\]",
    '{{< note "a" >}}\nText.\n{{< /note >}} {% if x %}y{% else %}z{% endif %}': "\\[note\\]\nText.\n \\[if\\]yz",
    "{{</* ref */>}} {% raw %}{{ x }} `{{ y }}`{% endraw %}": "`{{< ref >}}` `{{ x }}` `{{ y }}`",
    "{% highlight ruby linenos %}\n{{ x }}\n{% endhighlight %}": "~~~~~~ ruby\n{{ x }}\n~~~~~~",
    '{{< highlight go "hl_lines=1" >}}\na\n{{< /highlight >}}\nb': "~~~~~~ go\na\n~~~~~~\nb",
    "a{% comment %} b {% endcomment %}c{# f #}g": "acg",
    "## H {: #own .x }\n\nText.\n{: .note}\n\n*a*{: .b}": "## H {#own}\n\nText.\n\n*a*",
    "* toc\n{:toc}\n\nText.": "\nText.",
    "## H\n{: #own}": "## H {#own}",
    "{% include part.md %} [[a]] ``{{ x }}` [[b]]``": r"\[include\] [[a]] ``{{ x }}` [[b]]``",
    "| a |\n|---|\n| {{< icon x >}} [l]({{< ref b >}}) |": "| a |\n|---|\n| \\[icon\\] [l](b) |",
}


@pytest.mark.parametrize("name", KEPT)
def test_texts_without_template_tags_are_unchanged(name: str) -> None:
    plain = plain_markdown(KEPT[name])
    assert (plain.text, plain.removed) == (KEPT[name], {})


@pytest.mark.parametrize(("source", "expected"), CONVERTED.items())
def test_template_tags_are_converted_to_markdown_or_placeholders(source: str, expected: str) -> None:
    assert plain_markdown(source).text == expected


def test_removed_template_tags_are_reported_by_kind_and_name() -> None:
    plain = plain_markdown("{{< a >}}{{< a 1 >}}{% b %} {{ c.d }}\n\n*g*{: .h}{# i #} [[j]] `[[k]]` [[l]](m)")
    assert {kind: dict(names) for kind, names in plain.removed.items()} == {
        "template tags": {"a": 2, "b": 1},
        "template expressions": {"c.d": 1},
        "attributes": {"{:.h}": 1},
        "template comments": {"{# #}": 1},
        "wiki links": {"[[j]]": 1},
    }


def test_each_url_in_a_text_is_replaced_in_order() -> None:
    seen: list[tuple[str, bool]] = []

    def address(given: str, is_picture: bool) -> str:
        seen.append((given, is_picture))
        return f"/{len(seen)}"

    source = '[![a](b)](c "t") <a href="d">e</a> <img alt="f" src=\'g\'>\n\n> [h]: i\n\n[j](k l) [m](<n o>)*[p](q) <https://p>'
    assert plain_markdown(source, address).text == (
        '[![a](/1)](/2 "t") <a href="/3">e</a> <img alt="f" src=\'/4\'>\n\n> [h]: /5\n\n[j](k l) [m](</6>)*[p](/7) <https://p>'
    )
    assert seen == [("b", True), ("c", False), ("d", False), ("g", True), ("i", False), ("n o", False), ("q", False)]
