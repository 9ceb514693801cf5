"""The shop as a system: its design, its sample, its loader."""

from __future__ import annotations

from keyplan.systems import Site, SiteOptions, System
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.loader import load
from keyplan_systems.shop.sample import sample


def site(design: Shop, options: SiteOptions) -> Site:
    """The shop's site. Its modules are imported only to serve it."""
    from keyplan_systems.shop.site.making import make_site  # noqa: PLC0415

    return make_site(design, options)


SYSTEM = System(
    name="shop",
    title="Shop",
    design=Shop,
    sample=sample,
    sample_count=200,
    load=load,
    input="products.csv or orders.csv, or a folder with both",
    takes=("file", "folder"),
    maps_columns=True,
    site=site,
)
