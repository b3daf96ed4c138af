#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""cut_client.py PORT TRANSPORT CLIENT...: runs CLIENT through a relay to the server on PORT.

The relay cuts the connection when the client is about to make the one that is measured: over plain TCP when
it connects a second time, else when the server tells where it listens.
"""
import contextlib
import select
import socket
import subprocess
import sys

GREETING = 8


def relay(near, far, listener, transport):
    """Returns when it is time to cut: the server then has all that the client has sent."""
    told = 0
    while True:
        ready, _, _ = select.select([near, far, listener], [], [], 60)
        if near in ready:
            source, target = near, far
        elif far in ready:
            source, target = far, near
        else:
            return bool(ready)
        octets = source.recv(65536)
        if source is far:
            told += len(octets)
        if not octets or (transport != "tcp" and told > GREETING):
            return bool(octets)
        target.sendall(octets)


def main():
    server, transport, client = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        with subprocess.Popen(client + ["--port", port], stderr=subprocess.DEVNULL) as process:
            near = listener.accept()[0]
            with near, socket.create_connection(("127.0.0.1", server)) as far:
                cut = relay(near, far, listener, transport)
                process.kill()
                # Ends the stream without a reset, so that the server reads everything before the
                # end.
                far.shutdown(socket.SHUT_WR)
                # If the server has not read everything, its close resets the connection.
                with contextlib.suppress(ConnectionResetError):
                    while far.recv(65536):
                        pass
    sys.exit(0 if cut else "the relay has cut nothing")


main()
