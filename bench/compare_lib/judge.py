# SPDX-License-Identifier: BSD-2-Clause
"""The limits that the library must keep beside its peers, checked in results."""

from __future__ import annotations

from dataclasses import dataclass

from .measure import Cell
from .patterns import KIB, MIB, size_name


@dataclass(frozen=True)
class Limit:
    """One ratio: which contestant of this library, beside which other one, in which pattern and at
    which sizes.
    """

    measure: str
    pattern: str
    sizes: tuple[int, ...]  # empty: all that are measured, up to 4 KiB
    ours: str
    theirs: str
    sign: str  # <=, >=
    limit: float
    figure: str = "value"  # or cpu, seconds per gigabyte


@dataclass(frozen=True)
class Verdict:
    """A limit at one size. Without ratios one of the two has no result."""

    measure: str
    ours: str
    theirs: str
    sign: str
    limit: float
    ratio: float | None  # of medians
    ratio_best: float | None  # of the best runs

    def holds(self, ratio: float) -> bool:
        return ratio <= self.limit if self.sign == "<=" else ratio >= self.limit

    @property
    def word(self) -> str:
        if self.ratio is None:
            return "not measured"
        return "ok" if self.holds(self.ratio) else "over"

    def shown(self, ratio: float | None) -> str:
        """Returns two digits, or three if rounding would hide on which side of the limit it is."""
        if ratio is None:
            return ""
        text = f"{ratio:.2f}"
        return text if self.holds(float(text)) == self.holds(ratio) else f"{ratio:.3f}"


def limits() -> list[Limit]:
    """Faster is a ratio of at most 1. No other contestant has a CRC, so the library is judged with
    and without.
    """
    small: tuple[int, ...] = ()
    polling, waiting = "Send ping-pong, polling", "Send ping-pong, waiting"
    found: list[Limit] = []
    for ours in ("itapi", "itapi_nocrc"):
        found.append(Limit(polling, "send_lat", small, ours, "tcp", "<=", 1.15))
        found.append(Limit(polling, "send_lat", (64 * KIB,), ours, "tcp", "<=", 1.15))
        for peer in ("libfabric", "fi_pingpong", "ucx"):
            found.append(Limit(polling, "send_lat", small, ours, peer, "<=", 1.0))
            found.append(Limit(polling, "send_lat", (64 * KIB, MIB), ours, peer, "<=", 1.0))
        found.append(Limit("RDMA Write ping-pong", "write_lat", (64,), ours, "tcp", "<=", 1.15))
    # With CRC, beside TCP with the same congestion control.
    found.append(Limit(polling, "send_lat", (MIB,), "itapi", "tcp_same", "<=", 1.18))
    for ours in ("itapi", "itapi_nospin"):
        found.append(Limit(waiting, "send_lat_wait", (64, 4 * KIB, 64 * KIB), ours, "tcp", "<=", 1.15))
    found += stream_limits() + rate_limits() + layer_limits()
    found.append(Limit("CPU seconds per GB, RDMA Writes", "write_bw", (MIB,), "itapi_nocrc", "tcp", "<=", 1.05, "cpu"))
    return found


def stream_limits() -> list[Limit]:
    found: list[Limit] = []
    large = (64 * KIB, MIB)
    for name, pattern, peers in (
        ("Send stream", "send_bw", (("libfabric", 1.0), ("ucx", 1.0))),
        ("RDMA Write stream", "write_bw", (("libfabric", 1.3), ("ucx", 2.0))),
    ):
        found.append(Limit(name, pattern, (4 * KIB,), "itapi_nocrc", "tcp", ">=", 2.0))
        found.append(Limit(name, pattern, large, "itapi_nocrc", "tcp", ">=", 1.0))
        for peer, limit in peers:
            found.append(Limit(name, pattern, (4 * KIB, *large), "itapi_nocrc", peer, ">=", limit))
        found.append(Limit(name, pattern, large, "itapi", "tcp", ">=", 0.9))
    found.append(Limit("RDMA Read stream", "read_bw", large, "itapi_nocrc", "tcp", ">=", 0.95))
    for name, pattern in (("Send stream", "send_bw"), ("RDMA Write stream", "write_bw"), ("RDMA Read stream", "read_bw")):
        found.append(Limit(name, pattern, (MIB,), "itapi", "tcp_same", ">=", 0.85))
    found.append(Limit("RDMA Read stream", "read_bw", large, "itapi_nocrc", "libfabric", ">=", 1.8))
    return found


def rate_limits() -> list[Limit]:
    found: list[Limit] = []
    for name, pattern in (("Sends, queue full", "send_rate"), ("RDMA Writes, queue full", "write_rate")):
        found.append(Limit(name, pattern, (64,), "itapi", "tcp", ">=", 5.0))
        found.append(Limit(name, pattern, (64,), "itapi_coalesce", "tcp", ">=", 8.0))
    return found


def layer_limits() -> list[Limit]:
    """libibverbs on the library, beside the library itself. perftest stops its clock at the last completion, whose message may
    still be in a socket; so does the contestant it is set beside.
    """
    found: list[Limit] = []
    for name in ("send", "write", "read"):
        found.append(Limit(f"verbs, latency, {name}", f"{name}_lat", (64, 4 * KIB, 64 * KIB), "ofa", "itapi_typical", "<=", 1.05))
        found.append(Limit(f"verbs, stream, {name}", f"{name}_bw", (64 * KIB, MIB), "ofa", "itapi_local", ">=", 0.95))
    for name in ("send", "write"):
        found.append(Limit(f"verbs, rate, {name}", f"{name}_rate", (64,), "ofa", "itapi_local", ">=", 0.95))
    return found


def ratios(cell: Cell, limit: Limit) -> tuple[float | None, float | None]:
    """Returns the ratios of the medians and of the best values."""
    ours, theirs = cell.series.get(limit.ours), cell.series.get(limit.theirs)
    if ours is None or theirs is None:
        return None, None
    if limit.figure == "cpu":
        one, other = sorted(ours.cpu_per_gigabyte()), sorted(theirs.cpu_per_gigabyte())
    else:
        one, other = sorted(ours.values), sorted(theirs.values)
    if not one or not other:
        return None, None
    best = 0 if limit.figure == "cpu" or cell.pattern.lower_is_better else -1
    return divided(middle(one), middle(other)), divided(one[best], other[best])


def middle(values: list[float]) -> float:
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def divided(one: float, other: float) -> float | None:
    return one / other if other > 0 else None


def judge(cells: list[Cell], names: dict[str, str]) -> list[Verdict]:
    """Returns verdicts on the cells. names has the contestants that ran."""
    verdicts: list[Verdict] = []
    for limit in limits():
        if limit.ours not in names or limit.theirs not in names:
            continue
        for cell in cells:
            wanted = cell.size in limit.sizes if limit.sizes else cell.size <= 4 * KIB
            if cell.pattern.name != limit.pattern or not wanted:
                continue
            measure = f"{limit.measure}, {size_name(cell.size)}"
            verdicts.append(
                Verdict(measure, names[limit.ours], names[limit.theirs], limit.sign, limit.limit, *ratios(cell, limit))
            )
    return verdicts
