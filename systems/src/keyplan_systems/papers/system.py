"""The paper catalogue as a system: its design, its sample, its loader."""

from __future__ import annotations

from keyplan.systems import System
from keyplan_systems.papers.design import Papers
from keyplan_systems.papers.loader import load
from keyplan_systems.papers.sample import sample

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="papers",
    title="Paper catalogue",
    design=Papers,
    sample=sample,
    sample_count=300,
    load=load,
    input="a BibTeX (.bib) or CSL-JSON (.json) file, or a folder of them",
    takes=("file", "folder"),
)
