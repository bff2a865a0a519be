# SPDX-License-Identifier: MIT
"""A stop while peers wait to be accepted."""

import json
import resource
import signal
import socket
import time
import unittest

from program import PATIENCE_S, Case, Server, run

PEERS = 300


def serving_engines():
    engines = json.loads(run("engines", "--json").stdout)
    return [engine["name"] for engine in engines if "serve" in engine["roles"] and engine["available"]]


def hold(server):
    """Stops the process, so that peers stay in the accept queue, and returns when it has stopped."""
    server.tell(signal.SIGSTOP)
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] == "T":
                return
        time.sleep(0.001)
    raise AssertionError("the server does not stop")


def answer(peer):
    """What the server says until the end of the stream, or the name of the error instead."""
    said = b""
    try:
        while more := peer.recv(100):
            said += more
    except OSError as error:
        return type(error).__name__
    return said.decode()


class QueuedPeers(Case):
    def answered(self, engine, listen):
        """What each of the peers hears who has connected and sent a line before the stop."""
        options = ("-e", engine, "-p", "uppercase", "--listen", listen, "--drain", f"{PATIENCE_S}s")
        with Server(*options) as server:
            hold(server)
            unix = listen.startswith("unix:")
            kind = socket.AF_UNIX if unix else socket.AF_INET
            to = listen[5:] if unix else ("127.0.0.1", int(server.address.rsplit(":", 1)[1]))
            peers = []
            for number in range(PEERS):
                peers.append(socket.socket(kind))
                peers[-1].settimeout(PATIENCE_S)
                peers[-1].connect(to)
                peers[-1].sendall(b"peer %d\n" % number)
            server.tell(signal.SIGTERM)
            server.tell(signal.SIGCONT)
            answers = []
            for peer in peers:
                answers.append(answer(peer))
                peer.close()
            self.assertEqual(server.event()["connections"], {"accepted": PEERS, "failed": 0})
            return answers

    def test_whoever_waits_when_the_stop_comes_is_answered(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        with open("/proc/sys/net/core/somaxconn", encoding="ascii") as longest:
            if int(longest.read()) < PEERS:
                self.skipTest("the accept queue is too short here")
        expected = [f"PEER {number}\n" for number in range(PEERS)]
        for engine in serving_engines():
            for listen in ("127.0.0.1:0", "unix:" + self.path("socket")):
                with self.subTest(engine=engine, listen=listen.split(":")[0]):
                    self.assertEqual(self.answered(engine, listen), expected)


if __name__ == "__main__":
    unittest.main()
