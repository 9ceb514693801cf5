"""The shop as a system: its design, its sample, its loader."""

from __future__ import annotations

from keyplan.systems import System
from keyplan_systems.shop.design import Shop
from keyplan_systems.shop.loader import load
from keyplan_systems.shop.sample import sample

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="shop",
    title="Shop",
    design=Shop,
    sample=sample,
    sample_count=200,
    load=load,
    input="products.csv or orders.csv, or a folder with both",
    takes=("file", "folder"),
)
