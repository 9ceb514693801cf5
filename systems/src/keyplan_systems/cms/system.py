"""The CMS as a system: its design, its sample, its loader, its editor's site."""

from __future__ import annotations

from keyplan.systems import Site, SiteOptions, System
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.loader import load
from keyplan_systems.cms.sample import sample

__all__ = ["SYSTEM"]


def site(design: Cms, options: SiteOptions) -> Site:
    """The editor's site. What it is made with is imported when it is served, and not for a sample or an import."""
    from keyplan_systems.cms.site.making import make_site  # noqa: PLC0415

    return make_site(design, options)


SYSTEM = System(
    name="cms",
    title="Headless CMS",
    design=Cms,
    sample=sample,
    sample_count=300,
    load=load,
    input="a folder of Markdown posts",
    takes=("folder",),
    site=site,
)
