# SPDX-License-Identifier: BSD-2-Clause
"""The patterns of traffic that are measured, each at several sizes."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB

UNITS = {"lat": "us", "bw": "B/s", "rate": "msg/s"}


@dataclass(frozen=True)
class Pattern:
    """One pattern of traffic. Latencies are half a round trip, those of Reads a whole one."""

    name: str
    title: str
    op: str  # send, write, read
    measure: str  # lat, bw, rate
    mode: str = "poll"  # poll, wait
    depth: int = 1  # open requests
    smallest: int = 1  # sizes that make sense, bytes
    largest: int = 16 * MIB

    @property
    def unit(self) -> str:
        return UNITS[self.measure]

    @property
    def lower_is_better(self) -> bool:
        return self.measure == "lat"

    def fits(self, size: int) -> bool:
        return self.smallest <= size <= self.largest

    def best(self, values: list[float]) -> float:
        return min(values) if self.lower_is_better else max(values)

    def seconds_per_message(self, value: float, size: int) -> float:
        """Converts a value in the pattern's unit."""
        if self.measure == "lat":
            return value * 1e-6 * (1 if self.op == "read" else 2)
        return (size if self.measure == "bw" else 1) / value

    def value(self, messages_per_second: float, size: int) -> float:
        """Converts the rate of a stream to the pattern's unit."""
        return messages_per_second * (size if self.measure == "bw" else 1)


PATTERNS = (
    Pattern("send_lat", "Send ping-pong, both sides poll", "send", "lat"),
    Pattern("send_lat_wait", "Send ping-pong, both sides wait", "send", "lat", mode="wait", largest=64 * KIB),
    Pattern("write_lat", "RDMA Write ping-pong, the target polls memory", "write", "lat", smallest=64, largest=64 * KIB),
    Pattern("read_lat", "RDMA Read, one at a time, polling", "read", "lat", smallest=64, largest=64 * KIB),
    Pattern("send_bw", "Send stream", "send", "bw", depth=16, smallest=4 * KIB),
    Pattern("write_bw", "RDMA Write stream", "write", "bw", depth=16, smallest=4 * KIB),
    Pattern("read_bw", "RDMA Read stream, 8 under way", "read", "bw", depth=8, smallest=4 * KIB),
    Pattern("send_rate", "Sends, queue kept full", "send", "rate", depth=512, smallest=64, largest=KIB),
    Pattern("write_rate", "RDMA Writes, queue kept full", "write", "rate", depth=512, smallest=64, largest=KIB),
)

BY_NAME = {pattern.name: pattern for pattern in PATTERNS}


def parse_size(text: str) -> int:
    """Converts bytes, with k or m behind them for KiB or MiB. Raises ValueError."""
    unit = {"k": KIB, "m": MIB}.get(text[-1:].lower(), 1)
    digits = text[:-1] if unit > 1 else text
    if not digits.isdecimal() or not 1 <= int(digits) * unit <= 16 * MIB:
        raise ValueError(f"no size from 1 to 16m: {text}")
    return int(digits) * unit


def size_name(size: int) -> str:
    if size % MIB == 0:
        return f"{size // MIB} MiB"
    if size % KIB == 0:
        return f"{size // KIB} KiB"
    return f"{size} B"
