"""The CMS as a system: its design, its sample, its loader."""

from __future__ import annotations

from keyplan.systems import System
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.loader import load
from keyplan_systems.cms.sample import sample

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="cms",
    title="Headless CMS",
    design=Cms,
    sample=sample,
    sample_count=300,
    load=load,
    input="a folder of Markdown posts",
    takes=("folder",),
)
