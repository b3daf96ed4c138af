#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Step 6 of the tutorial in Python, on asyncio: a server of many clients, of TCP (client of step 1) and of RDMA
(client of step 4) at once. Here the program is such a client, too."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
import sys

import itapi
from itapi import lib

LINE_SIZE = 256
ENDS = (
    lib.IT_CM_MSG_CONN_DISCONNECT_EVENT,
    lib.IT_CM_MSG_CONN_BROKEN_EVENT,
    lib.IT_CM_MSG_CONN_PEER_REJECT_EVENT,
    lib.IT_CM_MSG_CONN_NONPEER_REJECT_EVENT,
)


async def read_line(tcp: socket.socket) -> bytes | None:
    """One line. Whoever sends "rdma" says nothing more before there is an answer."""
    line = b""
    while not line.endswith(b"\n") and len(line) < LINE_SIZE:
        received = await asyncio.get_running_loop().sock_recv(tcp, LINE_SIZE - len(line))
        if not received:
            return None
        line += received
    return line.rstrip(b"\n")


class Objects:
    """What all connections have in common: one queue takes the events of all."""

    def __init__(self) -> None:
        self.adapter = itapi.Adapter()
        self.zone = itapi.Zone(self.adapter)
        self.events = itapi.Events(self.adapter, lib.ITX_STREAM_DTO | lib.ITX_STREAM_CM_MSG, 256)


class Connection:
    """An endpoint and its memory: the first half is for what comes, the second for what goes."""

    def __init__(self, objects: Objects, cookie: int = 0) -> None:
        self.memory = bytearray(2 * LINE_SIZE)
        self.region = itapi.Region(objects.zone, self.memory)
        queues = (objects.events,) * 3
        self.endpoint = itapi.Endpoint(objects.zone, *queues, max_dto_payload_size=LINE_SIZE, max_request_dtos=2)
        self.cookie = cookie
        self.post_recv()

    def post_recv(self) -> None:
        self.endpoint.post_recv(self.region.piece(0, LINE_SIZE), self.cookie)

    def send(self, text: bytes) -> None:
        """The next message comes when the peer has this one, so a success is of no interest."""
        self.memory[LINE_SIZE : LINE_SIZE + len(text)] = text
        self.endpoint.post_send(self.region.piece(LINE_SIZE, len(text)), self.cookie, 0)


class Server:
    def __init__(self) -> None:
        self.objects = Objects()
        self.connections: dict[int, Connection] = {}
        self.numbers = itertools.count()

    def convert(self, tcp: socket.socket) -> None:
        number = next(self.numbers)
        self.connections[number] = Connection(self.objects, number)
        self.connections[number].endpoint.convert(tcp, b"go ahead\n")

    async def serve_lines(self, tcp: socket.socket) -> None:
        with tcp, contextlib.suppress(OSError):  # the library has a descriptor of its own
            while (line := await read_line(tcp)) is not None:
                if line == b"rdma":
                    return self.convert(tcp)
                await asyncio.get_running_loop().sock_sendall(tcp, line + b"\n")

    async def serve_events(self) -> None:
        async for event in self.objects.events:
            if event.number == lib.IT_DTO_RC_RECV_CMPL_EVENT and event.done:
                connection = self.connections[event.cookie]
                text = bytes(connection.memory[: event.length])
                connection.post_recv()
                connection.send(text)
            elif event.number in ENDS:
                number = next(number for number, one in self.connections.items() if one.endpoint.handle == event.c.conn.ep)
                self.connections.pop(number).endpoint.close()

    async def run(self, port: int) -> None:
        listener = socket.create_server(("", port))
        listener.setblocking(False)
        print(f"listening on port {listener.getsockname()[1]}", flush=True)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.serve_events())
            while True:
                tcp, _ = await asyncio.get_running_loop().sock_accept(listener)
                tasks.create_task(self.serve_lines(tcp))


async def ask(host: str, port: int, texts: list[str]) -> None:
    objects = Objects()
    connection = Connection(objects)
    tcp = socket.create_connection((host, port))
    tcp.setblocking(False)
    with tcp:
        await asyncio.get_running_loop().sock_sendall(tcp, b"rdma\n")
        if await read_line(tcp) != b"go ahead":
            sys.exit("the server does not want to")
        connection.endpoint.convert(tcp)
    event = await objects.events.next()
    if event.number != lib.IT_CM_MSG_CONN_ESTABLISHED_EVENT:
        sys.exit(f"connection: {event}")
    for text in texts:
        connection.send(text.encode())
        event = await objects.events.next()
        if event.number != lib.IT_DTO_RC_RECV_CMPL_EVENT or not event.done:
            sys.exit(f"the connection has ended: {event}")
        print("echo by RDMA:", connection.memory[: event.length].decode())
        connection.post_recv()
    connection.endpoint.disconnect()
    while (await objects.events.next()).number not in ENDS:
        pass


if __name__ == "__main__":
    if len(sys.argv) in (2, 3) and sys.argv[1] == "server":
        asyncio.run(Server().run(int(sys.argv[2]) if len(sys.argv) == 3 else 0))
    elif len(sys.argv) >= 5 and sys.argv[1] == "client":
        asyncio.run(ask(sys.argv[2], int(sys.argv[3]), sys.argv[4:]))
    else:
        sys.exit("usage: step6.py server [PORT]\n       step6.py client HOST PORT TEXT...")
