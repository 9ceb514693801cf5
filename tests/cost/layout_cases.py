"""Designs whose typical reads are laid out."""

from __future__ import annotations

from typing import Any

from tests.contract.apart import Apart
from tests.contract.buckets import Timed
from tests.contract.design import Everything
from tests.contract.reading import Reading
from tests.cost.test_large_reads import Store
from tests.cost.test_partially_read_results import Network

DESIGNS: dict[str, Any] = {cls.__name__: cls for cls in (Network, Store, Apart, Everything, Reading, Timed)}
