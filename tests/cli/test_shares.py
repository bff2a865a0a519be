# SPDX-License-Identifier: MIT
"""One peer of a server may not have all of anything: others are served beside it, and its memory returns."""

import contextlib
import json
import os
import re
import socket
import subprocess
import time
import unittest

from program import JOUST, Case, Server, run

HONEST_S = 5  # as long as somebody honest may wait
PEERS = 300
NEVER_READ = 8 << 20  # bytes that a peer would get


keeps_nothing = unittest.skipIf(os.environ.get("JOUST_SANITIZE"), "a sanitizer keeps what is freed")


def memory_of(process):
    with open(f"/proc/{process}/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon:"))


def available_engines():
    return [engine["name"] for engine in json.loads(run("engines", "--json").stdout) if engine["available"]]


class Shares(Case):
    def test_members_of_datagrams_give_way_too(self):
        for engine in available_engines():
            if not engine.startswith("udp-") or engine == "udp-multicast":
                continue
            serve = ("-e", engine, "-p", "echo", "--max-connections", 20)
            with self.subTest(engine), Server(*serve) as server:
                load = ("load", "-e", "udp-batched", "-p", "echo", "--connect", server.address)
                silent = subprocess.Popen([JOUST, *load, "-c", "20", "-i", "20s", "-d", "25s"],
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    time.sleep(2.5)  # all have joined, and have said nothing for a second
                    began = time.monotonic()
                    honest = run(*load, "-c", 3, "-m", 5)
                    self.assertEqual(honest.returncode, 0, honest.stderr)
                    self.assertLess(time.monotonic() - began, HONEST_S)
                finally:
                    silent.kill()
                    silent.wait()

    @contextlib.contextmanager
    def unread(self, server, request):
        """Connections that ask for as much as the server takes, and read nothing."""
        host, port = server.address.rsplit(":", 1)
        with contextlib.ExitStack() as peers:
            for _ in range(PEERS):
                peer = peers.enter_context(socket.create_connection((host, int(port))))
                peer.setblocking(False)
                with contextlib.suppress(BlockingIOError, ConnectionError):
                    for _ in range(64):
                        peer.send(request)
            yield

    def ask(self, server, request):
        host, port = server.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=HONEST_S) as honest:
            honest.sendall(request)
            return honest.recv(1000)

    @keeps_nothing
    def test_memory_has_a_limit_and_returns(self):
        with open(self.path("large"), "wb") as file:
            file.truncate(NEVER_READ)
        ask = b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"
        cases = (("http", ("--root", self.directory), ask * 50, ask), ("echo", (), b"x" * 65536, b"honest"))
        for engine in ("epoll", "io-uring", "threads", "qt", "asio-pool"):
            for protocol, options, much, little in cases:
                if engine in available_engines():
                    with self.subTest(engine=engine, protocol=protocol):
                        self.one_server("-e", engine, "-p", protocol, *options, much=much, little=little)

    def one_server(self, *arguments, much, little):
        with Server(*arguments, "--max-memory", "24MiB") as server:
            at_first = memory_of(server.process.pid)
            with self.unread(server, much):
                time.sleep(1)
                began = time.monotonic()
                self.assertTrue(self.ask(server, little))
                self.assertLess(time.monotonic() - began, HONEST_S)
                self.assertLess(memory_of(server.process.pid) - at_first, 96 << 20)  # of 150 and more
            time.sleep(1)
            self.assertTrue(self.ask(server, little))
            self.assertLess(memory_of(server.process.pid) - at_first, 32 << 20)
            self.assertTrue(server.stop())

    @keeps_nothing
    def test_strangers_that_begin_handshakes_take_little(self):
        with open(self.path("token"), "w", encoding="utf-8") as token:
            token.write("0123456789abcdef" * 4)
        os.chmod(self.path("token"), 0o600)
        greeting = bytes.fromhex("1603010104 01000100")  # the head of a greeting, and nothing more
        guard = ("--token-file", self.path("token"))
        receive = (JOUST, "receive", "--into", self.directory, *guard)
        server = subprocess.Popen(receive, stdout=subprocess.PIPE, text=True)
        try:
            address = re.search(r"127\.0\.0\.1:(\d+)", server.stdout.readline())
            for begun in (b"", greeting):
                at_first = memory_of(server.pid)
                with contextlib.ExitStack() as strangers:
                    for _ in range(1500):
                        where = ("127.0.0.1", int(address[1]))
                        strangers.enter_context(socket.create_connection(where)).send(begun)
                    began = time.monotonic()
                    self.make_file("sent")
                    done = run("send", self.path("sent"), address[0], "--overwrite", *guard)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertLess(time.monotonic() - began, HONEST_S)
                    most = 100 << 20 if begun else 16 << 20
                    self.assertLess(memory_of(server.pid) - at_first, most)
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()

    def make_file(self, name):
        with open(self.path(name), "wb") as file:
            file.write(os.urandom(1000))


if __name__ == "__main__":
    unittest.main()
