# SPDX-License-Identifier: BSD-2-Clause
"""Runs a server and a client, each on one CPU, with a time limit, and counts the CPU seconds of
both.
"""

from __future__ import annotations

import ctypes
import os
import random
import select
import shlex
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import IO, Callable

Command = list[str]


class Failure(Exception):
    """A run that failed, described in one line."""


class Overtime(Failure):
    """A run that exceeded its time."""


@dataclass(frozen=True)
class Outcome:
    """The result of one run of both programs."""

    output: str  # of the client, stdout and stderr
    cpu_seconds: float  # user and system, of both
    wall_seconds: float


def chosen_ports() -> range:
    """Returns the ports that the kernel assigns to sockets that ask for none."""
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as words:
            first, last = (int(word) for word in words.read().split())
        return range(first, last + 1)
    except (OSError, ValueError):
        return range(32768, 61000)


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_port() -> int:
    """Returns a TCP port that nobody uses and that the kernel assigns to no other program."""
    others = sorted(set(range(10000, 65536)) - set(chosen_ports()))
    for port in random.sample(others, min(100, len(others))):
        if is_free(port):
            return port
    raise Failure("no TCP port is free outside of those that the kernel chooses from")


def tcp_listens(port: int) -> bool:
    """Returns whether a socket listens on a port. A test connection would use up a server for one
    client.
    """
    suffix = f":{port:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as lines:
                for line in lines:
                    fields = line.split()
                    if len(fields) > 3 and fields[3] == "0A" and fields[1].endswith(suffix):
                        return True
        except OSError:
            continue
    return False


LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Ends the child with its parent: a killed process cannot end what it has started."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def pinned(command: Command, cpu: int) -> Command:
    return ["taskset", "-c", str(cpu), *command]


class Process:
    """One program with its output in a file. wait4 gives its CPU time."""

    def __init__(self, command: Command, folder: str, name: str) -> None:
        self.name = name
        self.path = os.path.join(folder, name)
        self.cpu_seconds = 0.0
        self.status: int | None = None
        output: IO[bytes]
        with open(self.path, "wb") as output:
            # The program has its own session, so that whatever it starts ends with it.
            self.popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        self.pid = self.popen.pid
        self.descriptor = os.pidfd_open(self.pid)

    def wait(self, seconds: float) -> bool:
        """Returns whether it ended in time. Sleeps until then, since the CPUs belong to the
        measurement.
        """
        if self.status is not None:
            return True
        poll = select.poll()
        poll.register(self.descriptor, select.POLLIN)
        if not poll.poll(max(0.0, seconds) * 1000):
            return False
        _, status, usage = os.wait4(self.pid, 0)
        self.status = os.waitstatus_to_exitcode(status)
        self.popen.returncode = self.status  # so that Popen does not wait, too
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        return True

    def output(self) -> str:
        with open(self.path, encoding="utf-8", errors="replace") as text:
            return text.read()

    def close(self) -> None:
        if self.status is None:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.wait(5)
        os.close(self.descriptor)


def last_words(process: Process) -> str:
    """Returns the last lines of a program's output as one line."""
    lines = [line.strip() for line in process.output().splitlines() if line.strip()]
    return " / ".join(lines[-2:])[-300:] or "no output"


def await_listener(server: Process, port: int, listens: Callable[[int], bool], seconds: float) -> None:
    limit = time.monotonic() + seconds
    while not listens(port):
        if server.wait(0.005):
            raise Failure(f"the server ended with status {server.status}: {last_words(server)}")
        if time.monotonic() > limit:
            raise Failure(f"the server does not listen: {last_words(server)}")


def run_pair(
    server_command: Command,
    client_command: Command,
    port: int,
    pin: tuple[int, int],
    seconds: float,
    listens: Callable[[int], bool] = tcp_listens,
) -> Outcome:
    """Does one run: client on the CPU pin[0], server on pin[1]. Raises Failure, also after so many
    seconds.
    """
    processes: list[Process] = []
    with tempfile.TemporaryDirectory(prefix="compare-") as folder:
        try:
            started = time.monotonic()
            server = Process(pinned(server_command, pin[1]), folder, "server")
            processes.append(server)
            await_listener(server, port, listens, min(10.0, seconds))
            client = Process(pinned(client_command, pin[0]), folder, "client")
            processes.append(client)
            if not client.wait(seconds):
                raise Overtime(f"not done after {seconds:g} s: {last_words(client)}")
            if client.status != 0:
                raise Failure(f"status {client.status}: {last_words(client)}")
            if not server.wait(5):
                raise Failure(f"the server does not end: {last_words(server)}")
            if server.status != 0:
                raise Failure(f"the server ended with status {server.status}: {last_words(server)}")
            wall = time.monotonic() - started
            return Outcome(client.output(), client.cpu_seconds + server.cpu_seconds, wall)
        except OSError as error:
            raise Failure(str(error)) from error
        finally:
            for process in processes:
                process.close()


def shown(command: Command) -> str:
    return shlex.join(command)
