"""The social network as a system: its design, its sample, its loader."""

from __future__ import annotations

from keyplan.systems import System
from keyplan_systems.social.design import Social
from keyplan_systems.social.loader import load
from keyplan_systems.social.sample import sample

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="social",
    title="Social network",
    design=Social,
    sample=sample,
    sample_count=300,
    load=load,
    input="an edge list as SNAP publishes graphs, JSON lines of posts, or a folder of both",
    takes=("file", "folder"),
)
