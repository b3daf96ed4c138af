# SPDX-License-Identifier: BSD-2-Clause
"""IT-API for Python: RDMA, with a userspace iWARP stack.

The classes have what most programs need; each method is one call of C, whose manual page holds. Everything else is
called by `lib` and `ffi`, with the `handle` of an object: all functions and constants of it_api.h (version 2.1)
and itx_api.h are there.

Memory is any object with a buffer: bytearray, mmap, array, numpy arrays. Events come by `get`, by `wait`, or by
`async for event in events`.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from typing import Any

from ._itapi import ffi, lib

# The names of version 2.1, which are macros in C.
lmr_create, rmr_create, rmr_link = lib.it_lmr_create21, lib.it_rmr_create20, lib.it_rmr_link

# What most requests and receives are posted with: their success is told, and wakes who waits.
TOLD = lib.IT_COMPLETION_FLAG | lib.IT_NOTIFY_FLAG


class Error(Exception):
    """A call that has failed: `status` is an it_status_t."""

    def __init__(self, call: str, status: int) -> None:
        super().__init__(f"{call}: {ffi.string(lib.itx_status_string(status)).decode()}")
        self.status = status


def call(name: str, *arguments: Any) -> None:
    """Calls a function of C by its name; a status that is no success becomes an Error."""
    status = getattr(lib, name)(*arguments)
    if status != lib.IT_SUCCESS:
        raise Error(name, status)


class _Owned:
    """An object of the library. It ends with `close`, at the end of a `with`, or when nobody refers to it."""

    handle: Any = ffi.NULL
    _free = ""

    def close(self) -> None:
        if self.handle != ffi.NULL:
            getattr(lib, self._free)(self.handle)
            self.handle = ffi.NULL

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_reason: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class Adapter(_Owned):
    """An Interface Adapter. Its end is the end of all that was made in it."""

    _free = "it_ia_free"

    def __init__(self, name: str = "uiwarp") -> None:
        out = ffi.new("it_ia_handle_t *")
        call("it_ia_create", name.encode(), 2, 1, out)
        self.handle = out[0]


class Zone(_Owned):
    """A protection zone."""

    _free = "it_pz_free"

    def __init__(self, adapter: Adapter) -> None:
        out = ffi.new("it_pz_handle_t *")
        call("it_pz_create", adapter.handle, out)
        self.handle, self.adapter = out[0], adapter


class Region(_Owned):
    """A buffer that is registered (LMR). As long as it is, the buffer stays where it is."""

    _free = "it_lmr_free"

    def __init__(self, zone: Zone, buffer: Any, privileges: int = lib.IT_PRIV_LOCAL) -> None:
        self.buffer = ffi.from_buffer(buffer, require_writable=privileges & lib.IT_PRIV_LOCAL_WRITE != 0)
        self.address = int(ffi.cast("uintptr_t", self.buffer))
        out, key = ffi.new("it_lmr_handle_t *"), ffi.new("it_rmr_context_t *")
        call("it_lmr_create21", zone.handle, self.buffer, ffi.NULL, len(self.buffer), lib.IT_ADDR_MODE_ABSOLUTE,
             privileges, lib.IT_LMR_FLAG_NONE, 0, out, key)
        self.handle, self.key, self.zone = out[0], key[0], zone

    def piece(self, offset: int = 0, length: int | None = None) -> Any:
        """Some of it, as posts want it."""
        length = len(self.buffer) - offset if length is None else length
        if not 0 <= offset <= offset + length <= len(self.buffer):
            raise ValueError(f"{length} octets at {offset} are not within {len(self.buffer)}")
        return ffi.new("it_lmr_triplet_t *", {"lmr": self.handle, "addr": {"abs": self.buffer + offset}, "length": length})


class Event:
    """An event; `c` is its it_event_t."""

    def __init__(self, c: Any) -> None:
        self.c = c
        self.number: int = c.event_number

    def __str__(self) -> str:
        return ffi.string(lib.itx_event_string(self.number)).decode()

    @property
    def done(self) -> bool:
        """Of a completion: it is a success."""
        return bool(self.c.dto_cmpl.dto_status == lib.IT_DTO_SUCCESS)

    @property
    def length(self) -> int:
        return int(self.c.dto_cmpl.transferred_length)

    @property
    def cookie(self) -> int:
        return int(self.c.dto_cmpl.cookie)

    @property
    def private_data(self) -> bytes:
        """Of an event of a connection, what the peer has given."""
        member = self.c.conn_req if self.number == lib.IT_CM_REQ_CONN_REQUEST_EVENT else self.c.conn
        return bytes(ffi.buffer(member.private_data, lib.itx_event_private_data_length(self.c)))


class Events(_Owned):
    """A queue of events (EVD) of the streams ITX_STREAM_..., with a descriptor."""

    _free = "it_evd_free"

    def __init__(self, adapter: Adapter, streams: int, size: int) -> None:
        out, descriptor = ffi.new("it_evd_handle_t *"), ffi.new("int *")
        call("itx_evd_create_mixed", adapter.handle, streams, lib.IT_EVD_CREATE_FD, size, lib.IT_THRESHOLD_DISABLE, ffi.NULL, out, descriptor)
        self.handle, self._descriptor, self.adapter = out[0], descriptor[0], adapter

    def fileno(self) -> int:
        """For select and the like; it is not to be read or closed."""
        return int(self._descriptor)

    def get(self) -> Event | None:
        """The next event, if there is one."""
        event = ffi.new("it_event_t *")
        status = lib.it_evd_dequeue(self.handle, event)
        if status == lib.IT_ERR_QUEUE_EMPTY:
            return None
        if status != lib.IT_SUCCESS:
            raise Error("it_evd_dequeue", status)
        return Event(event)

    def wait(self, seconds: float | None = None) -> Event | None:
        """The next event; None if time is up, or a signal has come. Other threads of Python run meanwhile."""
        event = ffi.new("it_event_t *")
        limit = lib.IT_TIMEOUT_INFINITE if seconds is None else int(seconds * 1000000)
        status = lib.it_evd_wait(self.handle, limit, event, ffi.NULL)
        if status in (lib.IT_ERR_TIMEOUT_EXPIRED, lib.IT_ERR_INTERRUPT):
            return None
        if status != lib.IT_SUCCESS:
            raise Error("it_evd_wait", status)
        return Event(event)

    async def next(self) -> Event:
        """The next event; other tasks run meanwhile. One task at a time may wait."""
        while (event := self.get()) is None:
            loop = asyncio.get_running_loop()
            readable = asyncio.Event()
            loop.add_reader(self.fileno(), readable.set)
            try:
                await readable.wait()
            finally:
                loop.remove_reader(self.fileno())
        return event

    def __aiter__(self) -> Events:
        return self

    __anext__ = next


class Listener(_Owned):
    """A listen point; `port` 0 is one that the library chooses."""

    _free = "it_listen_free"

    def __init__(self, adapter: Adapter, requests: Events, port: int = 0) -> None:
        out = ffi.new("it_listen_handle_t *")
        qualifier = ffi.new("it_conn_qual_t *", {"type": lib.IT_IANA_PORT})
        qualifier.conn_qual.port = socket.htons(port)
        flags = lib.IT_LISTEN_CONN_QUAL_INPUT if port else lib.IT_LISTEN_NO_FLAG
        call("it_listen_create", adapter.handle, 0, requests.handle, flags, qualifier, out)
        self.handle, self.port, self.requests = out[0], socket.ntohs(qualifier.conn_qual.port), requests


class Endpoint(_Owned):
    """This side's end of a connection; attributes are members of it_ep_attributes_t and of its srv.rc."""

    _free = "it_ep_free"

    def __init__(self, zone: Zone, requests: Events, receives: Events, connection: Events, **attributes: int) -> None:
        out, wanted = ffi.new("it_ep_handle_t *"), ffi.new("it_ep_attributes_t *")
        given = {"max_request_dtos": 1, "max_recv_dtos": 1, "max_send_segments": 1, "max_recv_segments": 1} | attributes
        for name, value in given.items():
            setattr(wanted if hasattr(wanted, name) else wanted.srv.rc, name, value)
        call("it_ep_rc_create", zone.handle, requests.handle, receives.handle, connection.handle, lib.IT_EP_NO_FLAG, wanted, out)
        self.handle, self._needs = out[0], (zone, requests, receives, connection)

    def convert(self, tcp: socket.socket, last_words: bytes = b"") -> None:
        """A TCP connection becomes this endpoint's; the socket may be closed. `last_words` still go over TCP."""
        call("it_socket_convert", tcp.fileno(), self.handle, lib.IT_SC_DEFAULT, last_words or ffi.NULL, len(last_words))

    def connect(self, host: str, port: int, private_data: bytes = b"") -> None:
        address, count, total = ffi.new("it_net_addr_t *"), ffi.new("size_t *", 1), ffi.new("size_t *")
        family, _, _, _, found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        packed = socket.inet_pton(family, str(found[0]))
        address.addr_type = lib.IT_IPV4 if family == socket.AF_INET else lib.IT_IPV6
        ffi.memmove(ffi.addressof(address, "addr"), packed, len(packed))
        path, qualifier = ffi.new("it_path_t *"), ffi.new("it_conn_qual_t *", {"type": lib.IT_IANA_PORT})
        qualifier.conn_qual.port = socket.htons(port)
        call("it_get_pathinfo", self._needs[1].adapter.handle, 0, address, count, total, path)
        if count[0] == 0:
            raise OSError(f"no path leads to {host}")
        call("it_ep_connect", self.handle, path, ffi.NULL, qualifier, lib.IT_CONNECT_FLAG_TWO_WAY, private_data or ffi.NULL, len(private_data))

    def accept(self, request: Event, private_data: bytes = b"") -> None:
        call("it_ep_accept", self.handle, request.c.conn_req.cn_est_id, private_data or ffi.NULL, len(private_data))

    def disconnect(self) -> None:
        call("it_ep_disconnect", self.handle, ffi.NULL, 0)

    def post_recv(self, pieces: Any, cookie: int = 0, flags: int = TOLD) -> None:
        call("it_post_recv", ffi.cast("it_handle_t", self.handle), *_segments(pieces), cookie, flags)

    def post_send(self, pieces: Any, cookie: int = 0, flags: int = TOLD) -> None:
        call("it_post_send", self.handle, *_segments(pieces), cookie, flags)

    def post_rdma_write(self, pieces: Any, address: int, key: int, cookie: int = 0, flags: int = TOLD) -> None:
        call("it_post_rdma_write", self.handle, *_segments(pieces), cookie, flags, address, key)

    def post_rdma_read(self, pieces: Any, address: int, key: int, cookie: int = 0, flags: int = TOLD) -> None:
        call("it_post_rdma_read", self.handle, *_segments(pieces), cookie, flags, address, key)


def _segments(pieces: Any) -> tuple[Any, int]:
    if not isinstance(pieces, Iterable) or isinstance(pieces, ffi.CData):
        return pieces, 1
    listed = [piece[0] for piece in pieces]
    return ffi.new("it_lmr_triplet_t[]", listed), len(listed)
