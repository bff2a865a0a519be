# SPDX-License-Identifier: MIT
"""Clients of a server that never gives what it has announced."""

import os
import socket
import struct
import threading

from frames import CHECK_BYTES, DATA, FACTS, FRAGMENT, HEAD, frame, head
from program import run
from transferring import TransferCase

SIZE = 1_000_000


def facts(request):
    return frame(FACTS, request, struct.pack(">Qq16xI", SIZE, 0, 0o644), 1 | 16)


def receive(peer, size):
    got = b""
    while len(got) < size:
        part = peer.recv(size - len(got))
        if not part:
            raise ConnectionError
        got += part
    return got


class FallsShort:
    """Answers every request for a range but for the last byte, and ends the connection there."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.dialled = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self.dialled += 1
            threading.Thread(target=self.answer, args=(peer,), daemon=True).start()

    def answer(self, peer):
        with peer:
            try:
                while True:
                    _, kind, _, request, size, _ = HEAD.unpack(receive(peer, HEAD.size))
                    body = receive(peer, size + CHECK_BYTES)
                    peer.sendall(facts(request))
                    if kind == FRAGMENT:
                        wanted = struct.unpack_from(">QQ", body)[1]
                        peer.sendall(head(DATA, request, wanted) + bytes(wanted - 1))
                        return
            except OSError:
                return


class LyingServer(TransferCase):
    def test_a_server_that_always_falls_short_is_given_up(self):
        server = FallsShort()
        output = self.path("file")
        done = run("get", f"{server.address}/file", "-o", output, "-c", 1, "--retries", 2)
        server.listener.close()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertLess(server.dialled, 12)
        self.assertFalse(os.path.exists(output))
