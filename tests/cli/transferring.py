# SPDX-License-Identifier: MIT
"""What the tests of `receive`, `send` and `get` share: a receiver, files, and a proxy that does harm."""

import contextlib
import glob
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import threading
import time
import unittest.mock

from program import JOUST, PATIENCE_S, Case, Server

RANGE = 8 << 20  # bytes: what the program hands out to one connection
SCHEMA = "transfer.schema.json"


class Receiver(Server):
    """A `receive` process: ready when entered, told to stop and waited for when left."""

    def __init__(self, folder, *arguments, program=(JOUST,)):
        super().__init__(program=[*program])
        self.command = [*program, "receive", "--events", "--into", folder, *map(str, arguments)]

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE_S)


def opened_in(process, folder):
    """The names of the files in the folder that the process has open."""
    opened = f"/proc/{process.pid}/fd"
    begin = os.path.realpath(folder) + "/"
    for number in os.listdir(opened):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            place = os.readlink(os.path.join(opened, number))
            if place.startswith(begin):
                yield place.removeprefix(begin)


def nameless(process, folder):
    """The open files in the folder that have no name yet."""
    return sum(name.startswith("#") for name in opened_in(process, folder))


class Proxy:
    """Passes bytes between clients and a server. `harm(number, to_server, at, data)` may change the data of
    the connection with that number, before which `at` bytes have passed, or return None to cut it."""

    def __init__(self, address, harm):
        host, port = address.rsplit(":", 1)
        self.server, self.harm = (host, int(port)), harm
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.sockets = []

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, kind, error, trace):
        for each in [self.listener, *self.sockets]:
            self.end(each)

    @staticmethod
    def end(each):
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        each.close()

    def accept(self):
        for number in range(1000):
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(self.server)
            except OSError:
                return
            self.sockets += [client, server]
            for source, to, to_server in ((client, server, True), (server, client, False)):
                threading.Thread(target=self.carry, args=(number, source, to, to_server), daemon=True).start()

    def carry(self, number, source, to, to_server):
        at = 0
        try:
            while data := source.recv(1 << 16):
                changed = self.harm(number, to_server, at, data)
                if changed is None:
                    break
                at += len(data)
                to.sendall(changed)
        except OSError:
            pass
        self.end(source)
        self.end(to)


class TransferCase(Case):
    def setUp(self):
        # In memory where possible: a busy disk may keep a writer waiting for a minute.
        with unittest.mock.patch("tempfile.tempdir", "/dev/shm" if os.path.isdir("/dev/shm") else None):
            super().setUp()
        os.mkdir(self.path("in"))
        os.mkdir(self.path("out"))

    def make(self, name, size, seed=1):
        """A file of bytes that follow from the seed. Returns its path."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(random.Random(f"{seed} {size}").randbytes(size))
        return path

    def start(self, *arguments):
        return subprocess.Popen([JOUST, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, cwd=self.path("out"))  # fmt: skip

    def tell(self, *arguments, code=0, program=(JOUST,)):
        """Runs a transfer. Returns its JSON document; stderr is in self.said."""
        file = self.path("transfer.json")
        command = [*program, *map(str, arguments), "--json", file]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
                              cwd=self.path("out"))  # fmt: skip
        self.said = done.stderr
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        with open(file, encoding="utf-8") as text:
            document = json.load(text)
        self.assertEqual(document["complete"], code == 0)
        return document

    def same(self, one, other):
        self.assertEqual(digest(one), digest(other), f"{one} and {other} differ")

    def hidden(self, folder):
        found = glob.glob(self.path(folder) + "/**/.joust-*", recursive=True)
        return sorted(os.path.basename(path) for path in found)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def wait_for(condition, process):
    """Until the condition holds, or the process has ended."""
    end = time.monotonic() + PATIENCE_S
    while not condition() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.001)


def partial_bytes(folder):
    """The disk space of the partial files of a folder."""
    total = 0
    for path in glob.glob(os.path.join(folder, ".joust-partial-*")):
        try:
            total += os.stat(path).st_blocks * 512
        except FileNotFoundError:
            pass
    return total


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE_S)
