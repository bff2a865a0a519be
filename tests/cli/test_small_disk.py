# SPDX-License-Identifier: MIT
"""Transfers into a file system that is too small: what is there is kept, and the same command goes on."""

import contextlib
import os
import subprocess
import unittest

from program import JOUST
from transferring import Receiver, TransferCase, partial_bytes, wait_for

MIB = 1 << 20


def on_a_small_disk(folder, size):
    """The command that runs joust where the folder is a file system of so many bytes, for it alone."""
    mount = f'mount -t tmpfs -o size={size} tmpfs "{folder}" && exec "$0" "$@"'
    command = ["unshare", "-m", "--propagation", "private", "sh", "-c", mount, JOUST]
    with contextlib.suppress(FileNotFoundError):
        if subprocess.run([*command, "--version"], capture_output=True, check=False).returncode == 0:
            return command
    raise unittest.SkipTest("needs unshare, and the right to mount a file system in memory")


def seen_by(process, folder):
    return "/".join(("/proc", str(process.pid), "root")) + folder


class SmallDisk(TransferCase):
    def fill(self, folder):
        """Takes all that is free. Returns the file that took it."""
        filler = os.path.join(folder, "filler")
        with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
            for _ in range(64):
                file.write(bytes(MIB))
        return filler

    def test_a_file_that_cannot_fit_is_refused_before_its_first_byte(self):
        file = self.make("large", 24 * MIB)
        small = on_a_small_disk(self.path("in"), 20 * MIB)
        with Receiver(self.path("in"), program=small) as receiver:
            told = self.tell("send", file, receiver.address, code=1)
            self.assertIn("24.0 MiB are needed, but only 20.0 MiB are available", self.said)
            self.assertIn("large", self.said)
            self.assertEqual(told["bytes"]["moved"], 0)
            self.assertEqual(os.listdir(seen_by(receiver.process, self.path("in"))), [])

    def test_a_server_whose_disk_fills_up_keeps_what_it_has(self):
        file = self.make("file", 12 * MIB)
        small = on_a_small_disk(self.path("in"), 20 * MIB)
        with Receiver(self.path("in"), program=small) as receiver:
            there = seen_by(receiver.process, self.path("in"))
            sender = self.start("send", file, receiver.address, "--limit", "5MB", "-c", "1")
            wait_for(lambda: partial_bytes(there) > 4 * MIB, sender)
            filler = self.fill(there)
            _, said = sender.communicate(timeout=60)
            self.assertEqual(sender.returncode, 1, said)
            self.assertRegex(said, "file: the server says: no space")
            self.assertIn("mend that, then the same command goes on from there", said)
            self.assertFalse(os.path.exists(os.path.join(there, "file")))
            os.remove(filler)
            told = self.tell("send", file, receiver.address)
            self.assertGreaterEqual(told["bytes"]["there_before"], 3 * MIB)
            self.same(file, os.path.join(there, "file"))

    def test_small_files_that_do_not_fit_leave_nothing_and_the_others_arrive(self):
        for i in range(3):
            self.make(f"tree/{i}", 4 * MIB)
        self.make("tree/z", 1000)
        small = on_a_small_disk(self.path("in"), 10 * MIB)
        with Receiver(self.path("in"), program=small) as receiver:
            there = seen_by(receiver.process, self.path("in"))
            told = self.tell("send", "-r", self.path("tree"), receiver.address, "-c", "1", code=1)
            self.assertEqual(told["files"], {"stored": 3, "directories": 0, "skipped": 0, "failed": 1})
            self.assertEqual(sorted(os.listdir(os.path.join(there, "tree"))), ["0", "1", "z"])
            self.same(self.path("tree/z"), os.path.join(there, "tree/z"))

    def test_a_client_whose_disk_fills_up_goes_on(self):
        source = self.make("in/file", 12 * MIB)
        small = on_a_small_disk(self.path("out"), 20 * MIB)
        output = self.path("out/file")
        with Receiver(self.path("in")) as receiver:
            self.tell("get", f"{receiver.address}/file", "-o", self.path("elsewhere"))
            keeps = self.path("keeps")
            script = (f'"$0" get {receiver.address}/file -o "{output}" --limit 5MB; echo $? >"{keeps}"; '
                      f'rm "{self.path("out")}/filler"; "$0" get {receiver.address}/file -o "{output}" && '
                      f'cmp "{source}" "{output}"')
            command = [*small[:-1], "sh", "-c", script, JOUST]
            both = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            there = seen_by(both, self.path("out"))
            wait_for(lambda: partial_bytes(there) > 4 * MIB, both)
            self.fill(there)
            _, said = both.communicate(timeout=60)
        self.assertEqual(both.returncode, 0, said)
        with open(keeps, encoding="ascii") as code:
            self.assertEqual(code.read(), "1\n", said)
        self.assertRegex(said, "(?i)no space")
