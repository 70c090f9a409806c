"""For tests of whoever uses or extends wayfare: a disk with faults, and the stores' contracts.

The contracts are tuples of checks (`LOG_CHECKS`, `BLOBS_CHECKS`, `DOCS_CHECKS`, `LEASES_CHECKS`),
each an async function that takes a way to make the store and raises `AssertionError`.
`model_contract.MODEL_CHECKS` is the same for models; `wire_server` plays a provider for them.
"""

from wayfare.testing.blobs_contract import BLOBS_CHECKS
from wayfare.testing.disk_model import Keep
from wayfare.testing.docs_contract import DOCS_CHECKS
from wayfare.testing.faults import Fault, PowerCut, is_power_cut
from wayfare.testing.faulty_disk import FaultyDisk
from wayfare.testing.killing_disk import KillingDisk
from wayfare.testing.leases_contract import LEASES_CHECKS
from wayfare.testing.log_contract import LOG_CHECKS

__all__ = [
    "BLOBS_CHECKS",
    "DOCS_CHECKS",
    "LEASES_CHECKS",
    "LOG_CHECKS",
    "Fault",
    "FaultyDisk",
    "Keep",
    "KillingDisk",
    "PowerCut",
    "is_power_cut",
]
