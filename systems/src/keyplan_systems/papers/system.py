"""The paper catalogue as a system: its design, its sample, its loader."""

from __future__ import annotations

from keyplan.systems import Site, SiteOptions, System
from keyplan_systems.papers.design import Papers
from keyplan_systems.papers.loader import load
from keyplan_systems.papers.sample import sample


def site(design: Papers, options: SiteOptions) -> Site:
    """The catalogue's site. Its modules are imported only to serve it."""
    from keyplan_systems.papers.site.making import make_site  # noqa: PLC0415

    return make_site(design, options)


SYSTEM = System(
    name="papers",
    title="Paper catalogue",
    design=Papers,
    sample=sample,
    sample_count=300,
    load=load,
    input="a BibTeX (.bib) or CSL-JSON (.json) file, or a folder of them",
    takes=("file", "folder"),
    site=site,
)
