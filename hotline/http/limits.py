"""How often somebody may ask: a bucket of permissions that fills by the minute, one for each name. Pure: the time is given."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from dataclasses import dataclass

MOST_NAMES = 10_000  # remembered at the same time; the longest unused are forgotten, and so begin anew with a full bucket
_V6_NETWORK = 64  # a subscriber of IPv6 has a whole network


@dataclass(slots=True)
class _Bucket:
    left: float
    at_s: float


class Rates:
    """One bucket for each name (a token's id, an address)."""

    def __init__(self, *, per_minute: int, burst: int) -> None:
        self._per_s = per_minute / 60
        self._burst = float(burst)
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def wait_s(self, name: str, now_s: float) -> float:
        """0 when it may (and one permission is taken), else how long until the next."""
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = _Bucket(self._burst, now_s)
            if len(self._buckets) > MOST_NAMES:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(name)
        bucket.left = min(self._burst, bucket.left + (now_s - bucket.at_s) * self._per_s)
        bucket.at_s = now_s
        if bucket.left < 1:
            return (1 - bucket.left) / self._per_s
        bucket.left -= 1
        return 0.0


def network_of(address: str) -> str:
    """What an address is counted as."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv6Address):
        return (
            str(ipaddress.ip_network((parsed, _V6_NETWORK), strict=False))
            if parsed.ipv4_mapped is None
            else str(parsed.ipv4_mapped)
        )
    return address
