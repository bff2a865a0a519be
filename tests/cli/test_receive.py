# SPDX-License-Identifier: MIT
"""What `receive` says of itself."""

import socket

from program import PATIENCE_S, run
from transferring import TransferCase


class Receive(TransferCase):
    def greeting(self, *words):
        receiver = self.start("receive", "--into", self.path("in"), *words)
        line = receiver.stdout.readline()
        receiver.terminate()
        _, self.said = receiver.communicate(timeout=PATIENCE_S)
        self.assertEqual(receiver.returncode, 0, self.said)
        return line

    def test_all_addresses_are_said(self):
        line = self.greeting("--listen", "localhost:0")
        names = {address[0] for *_, address in socket.getaddrinfo("localhost", 0, type=socket.SOCK_STREAM)}
        if names == {"127.0.0.1", "::1"} and "not listening on" not in self.said:
            either = r"(127\.0\.0\.1|\[::1\])"  # in the order of the system's lookup
            self.assertRegex(line, rf"^listening on {either}:(\d+) and (?!\1){either}:\2 with ")
        token = self.path("token")
        self.assertEqual(run("receive", "--new-token", token).returncode, 0)
        line = self.greeting("--listen", "*:0", "--public", "--token-file", token)
        if "not listening on" not in self.said:
            self.assertRegex(line, r"^listening on 0\.0\.0\.0:(\d+) and \[::\]:\1 with ")
