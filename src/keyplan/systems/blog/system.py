"""The blog as a system: its design, its sample, its loader."""

from __future__ import annotations

from keyplan.systems import System
from keyplan.systems.blog.design import Blog
from keyplan.systems.blog.loader import load
from keyplan.systems.blog.sample import sample

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="blog",
    title="Blog platform",
    design=Blog,
    sample=sample,
    sample_count=300,
    load=load,
    input="a folder of Markdown posts",
    takes=("folder",),
)
