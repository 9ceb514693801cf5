"""The blog as a system: its design, its sample, its loader."""

from __future__ import annotations

from keyplan.systems import Site, SiteOptions, System
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.loader import load
from keyplan_systems.blog.sample import sample


def site(design: Blog, options: SiteOptions) -> Site:
    """The blog's site. Its modules are imported only to serve it."""
    from keyplan_systems.blog.site.making import make_site  # noqa: PLC0415

    return make_site(design, options)


SYSTEM = System(
    name="blog",
    title="Blog platform",
    design=Blog,
    sample=sample,
    sample_count=300,
    load=load,
    input="a folder of Markdown posts",
    takes=("folder",),
    site=site,
)
