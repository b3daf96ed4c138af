# SPDX-License-Identifier: BSD-2-Clause
"""The comparison in a virtual machine that has the kernel's siw."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from typing import Any

from .pair import Command

START_SECONDS = 180
RUN_SECONDS = 600
PATTERNS = "send_lat,write_lat,send_bw,write_bw,read_bw"
DEVICE = "siw_same"


def step(command: Command, seconds: float) -> str:
    """Returns why it failed, or an empty text."""
    # A processor for each side, unless the user says otherwise.
    environment = {"ITAPI_VM_CPUS": "2", **os.environ}
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not done after {seconds:g} s"
    except OSError as error:
        return str(error)
    if done.returncode == 0:
        return ""
    said = " / ".join((done.stdout + done.stderr).strip().splitlines()[-3:])
    return f"status {done.returncode}: {said or 'no output'}"


def compare(root: str, build: str, runs: int, seconds: float) -> dict[str, Any]:
    """Returns the guest's results.json, or an "error". A comparison with failed parts has results,
    too.
    """
    vm = os.path.join(root, "tests", "vm", "vm")
    inside = [os.path.join(root, "bench", "compare"), "--device", DEVICE, "--build", os.path.abspath(build)]
    inside += ["--sizes", "64,64k", "--patterns", PATTERNS, "--runs", str(runs), "--seconds", str(seconds)]
    with tempfile.TemporaryDirectory(prefix="compare-vm-") as folder:
        guest = os.path.join(folder, "guest")
        error = step([vm, "start", guest], START_SECONDS)
        if error:
            return {"error": error}
        try:
            command = f'{shlex.join(inside)} --out "$VM_OUT/compare"'
            error = step([vm, "exec", guest, "--time", str(RUN_SECONDS), command], RUN_SECONDS + 30)
            with open(os.path.join(guest, "out", "compare", "results.json"), encoding="utf-8") as stream:
                return dict(json.load(stream))
        except (OSError, ValueError) as failure:
            return {"error": error or str(failure)}
        finally:
            step([vm, "stop", guest], 60)
