"""The CMS as a system: design, sample, loader, site."""

from __future__ import annotations

from keyplan.systems import Site, SiteOptions, System
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.loader import load
from keyplan_systems.cms.sample import sample


def site(design: Cms, options: SiteOptions) -> Site:
    """The CMS's site. Its modules are imported only to serve it."""
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
