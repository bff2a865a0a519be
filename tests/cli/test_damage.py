# SPDX-License-Identifier: MIT
"""What arrives is right, or the command says that it is not: flipped bits, and a server that lies."""

import os
import random
import shutil
import stat
import struct
import threading
import unittest

from frames import DATA, FRAGMENT, head
from lying import Liar, facts
from program import long, run
from transferring import RANGE, Proxy, Receiver, TransferCase, digest

FLIPS = 60  # of each kind; one in 25 went unnoticed when frames had no checks


class Flip:
    """Flips a bit of the first connection of a transfer."""

    def __init__(self):
        self.lock = threading.Lock()
        self.expect(None, 0, 0)

    def expect(self, to_server, at, bit):
        with self.lock:
            self.to_server, self.at, self.bit = to_server, at, bit
            self.passed = {True: 0, False: 0}

    def __call__(self, number, to_server, at, data):
        with self.lock:
            begin = self.passed[to_server]
            self.passed[to_server] += len(data)
            if to_server == self.to_server and begin <= self.at < self.passed[to_server]:
                data = bytearray(data)
                data[self.at - begin] ^= 1 << self.bit
            return bytes(data)


def seen(folder):
    """All below the folder: names, modes, and times and digests of files. Partial files are none."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(place, name)
            facts = os.stat(path)
            if stat.S_ISDIR(facts.st_mode):
                found[os.path.relpath(path, folder)] = stat.S_IMODE(facts.st_mode)
            elif not name.startswith(".joust-"):
                told = (stat.S_IMODE(facts.st_mode), facts.st_mtime_ns, digest(path))
                found[os.path.relpath(path, folder)] = told
    return found


class Damage(TransferCase):
    def make_file(self, name, size):
        path = self.make(name, size)
        os.chmod(path, 0o640)
        os.utime(path, ns=(1, 1_000_000_000_123_456_789))
        return path

    def flip_all(self, command, made, expected, nearly):
        """Runs the command with flips at random places, a half of them in the first `nearly` bytes of a
        direction. `made` is the folder that it fills."""
        chance = random.Random(20260101)
        with Receiver(self.path("in")) as receiver, Proxy(receiver.address, flip := Flip()) as proxy:

            def once():
                if made != self.path("in"):
                    shutil.copytree(self.path("source"), self.path("in"), dirs_exist_ok=True)
                for name in os.listdir(made):
                    path = os.path.join(made, name)
                    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
                return run(*command(proxy.address), "-c", 1, "--retries", 3)

            done = once()
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(seen(made), expected)
            length, right = dict(flip.passed), 0
            for _ in range(FLIPS):
                to_server = chance.random() < 0.7
                most = length[to_server] if chance.random() < 0.5 else min(nearly, length[to_server])
                flip.expect(to_server, chance.randrange(most), chance.randrange(8))
                done = once()
                right += done.returncode == 0
                if done.returncode == 0:
                    self.assertEqual(seen(made), expected, f"{flip.to_server} {flip.at} {flip.bit}")
                else:
                    self.assertNotEqual(done.stderr, "")
                    self.assertLessEqual(seen(made).items(), expected.items())
        return right

    def test_small_files_and_directories(self):
        for i in range(4):
            self.make_file(f"source/tree/f{i}", 300)
            self.make_file(f"source/tree/sub{i}/file", 10)
        right = self.flip_all(
            lambda address: ("send", "-r", self.path("source/tree"), address),
            self.path("in"),
            seen(self.path("source")),
            4000,
        )
        self.assertGreater(right, FLIPS // 4)  # what was damaged is sent once more

    @long
    def test_a_large_file(self):
        file = self.make_file("source/file", RANGE + 5)
        self.flip_all(
            lambda address: ("send", file, address), self.path("in"), seen(self.path("source")), 400
        )

    def test_a_file_that_is_fetched(self):
        self.make_file("source/file", 3000)
        self.flip_all(
            lambda address: ("get", f"{address}/file", "-o", self.path("out/file")),
            self.path("out"),
            seen(self.path("source")),
            400,
        )


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


if __name__ == "__main__":
    unittest.main()
