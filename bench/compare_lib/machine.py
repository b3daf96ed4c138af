# SPDX-License-Identifier: BSD-2-Clause
"""Facts about the machine that a reader needs."""

from __future__ import annotations

import os
import re
import time


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as text:
            return text.read().strip()
    except OSError:
        return ""


def cpu_model() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", read("/proc/cpuinfo"), re.MULTILINE)
    return found.group(1) if found else os.uname().machine


def caches() -> str:
    base = "/sys/devices/system/cpu/cpu0/cache"
    found = []
    for index in range(8):
        folder = f"{base}/index{index}"
        if read(f"{folder}/type") in ("Data", "Unified"):
            found.append(f"L{read(folder + '/level')} {read(folder + '/size')}")
    return ", ".join(found)


def distribution() -> str:
    found = re.search(r'^PRETTY_NAME="?([^"\n]+)', read("/etc/os-release"), re.MULTILINE)
    return found.group(1) if found else ""


def memory_bytes() -> int:
    found = re.search(r"^MemTotal:\s*(\d+) kB", read("/proc/meminfo"), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


def built_with(folder: str) -> str:
    """Returns compiler and kind of build from CMake's cache in the build folder."""
    cache = read(os.path.join(folder, "CMakeCache.txt"))
    kind = re.search(r"^CMAKE_BUILD_TYPE:\w+=(.*)$", cache, re.MULTILINE)
    compiler = ""
    try:
        for name in os.listdir(os.path.join(folder, "CMakeFiles")):
            said = read(os.path.join(folder, "CMakeFiles", name, "CMakeCCompiler.cmake"))
            found = re.search(r'CMAKE_C_COMPILER_ID "(\w+)".*?CMAKE_C_COMPILER_VERSION "([\d.]+)"', said, re.DOTALL)
            if found:
                compiler = f"{found.group(1)} {found.group(2)}"
    except OSError:
        pass
    return ", ".join(part for part in (kind.group(1) if kind else "", compiler) if part)


def describe(build_folder: str) -> dict[str, object]:
    return {
        "processor": cpu_model(),
        "processors": os.cpu_count(),
        "virtual": " hypervisor" in read("/proc/cpuinfo"),
        "caches": caches(),
        "memory_bytes": memory_bytes(),
        "kernel": f"Linux {os.uname().release}",
        "distribution": distribution(),
        "congestion_control": read("/proc/sys/net/ipv4/tcp_congestion_control"),
        "build": built_with(build_folder),
    }


class Load:
    """The processor time that other programs have used: the kernel's count without that of the
    runs.
    """

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.busy, self.stolen = self.ticks()

    @staticmethod
    def ticks() -> tuple[int, int]:
        fields = [int(word) for word in read("/proc/stat").split("\n", 1)[0].split()[1:9]] or [0] * 8
        user, nice, system, _, _, interrupt, soft, steal = fields + [0] * (8 - len(fields))
        return user + nice + system + interrupt + soft, steal

    def others(self) -> dict[str, float]:
        """Returns shares of all processors' time since the start: used by others, and stolen by
        the host.
        """
        busy, stolen = self.ticks()
        hertz = os.sysconf("SC_CLK_TCK")
        times = os.times()
        ours = times.user + times.system + times.children_user + times.children_system
        capacity = max(0.001, (time.monotonic() - self.started) * (os.cpu_count() or 1))
        return {
            "other_programs": round(max(0.0, (busy - self.busy) / hertz - ours) / capacity, 4),
            "stolen": round((stolen - self.stolen) / hertz / capacity, 4),
        }
