"""The social network as a system: its design, its sample, its loader."""

from __future__ import annotations

from keyplan.systems import Site, SiteOptions, System
from keyplan_systems.social.design import Social
from keyplan_systems.social.loader import load
from keyplan_systems.social.sample import sample


def site(design: Social, options: SiteOptions) -> Site:
    """The network's site. Its modules are imported only to serve it."""
    from keyplan_systems.social.site.making import make_site  # noqa: PLC0415

    return make_site(design, options)


SYSTEM = System(
    name="social",
    title="Social network",
    design=Social,
    sample=sample,
    sample_count=300,
    load=load,
    input="an edge list in the format of SNAP, or a folder of edge lists",
    takes=("file", "folder"),
    site=site,
)
