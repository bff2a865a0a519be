# SPDX-License-Identifier: MIT
"""Clients of a server that never gives what it has announced."""

import os
import struct

from frames import DATA, FRAGMENT, head
from lying import Liar, facts
from program import run
from transferring import TransferCase

SIZE = 1_000_000


def fall_short(peer, kind, request, body):
    """Answers a request for a range but for the last byte, and ends the connection there."""
    peer.sendall(facts(request, SIZE, digest=b"x" * 16, mode=0o644))
    if kind == FRAGMENT:
        wanted = struct.unpack_from(">QQ", body)[1]
        peer.sendall(head(DATA, request, wanted) + bytes(wanted - 1))
        raise ConnectionError


class LyingServer(TransferCase):
    def test_a_server_that_always_falls_short_is_given_up(self):
        output = self.path("file")
        with Liar(fall_short) as server:
            done = run("get", f"{server.address}/file", "-o", output, "-c", 1, "--retries", 2)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertLess(server.dialled, 12)
        self.assertFalse(os.path.exists(output))
