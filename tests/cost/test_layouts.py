"""What is laid out for a read: partitions and items under names, in the order of the places that are known of them, and
what its stand-ins ask. Beside the finds of typical calls the same with the partitions the other way round.
"""

from __future__ import annotations

from typing import Any

from tests.contract.apart import Apart
from tests.contract.buckets import Timed
from tests.contract.design import Everything
from tests.contract.reading import Reading
from tests.cost.test_large_reads import Store
from tests.cost.test_many import Network

DESIGNS: dict[str, Any] = {cls.__name__: cls for cls in (Network, Store, Apart, Everything, Reading, Timed)}
