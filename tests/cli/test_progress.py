# SPDX-License-Identifier: MIT
"""How far a transfer is, on terminals of several sizes and on what is none."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import unittest

from program import JOUST, PATIENCE_S, long, run
from transferring import Receiver, TransferCase

ERASED = "\r\x1b[K"


class Progress(TransferCase):
    def send(self, receiver, kind, columns, later=None):
        """Sends a file that takes 2 s. Returns the text that the terminal has got."""
        file = self.make("file", 2_000_000)
        terminal, program_side = pty.openpty()
        self.addCleanup(os.close, terminal)
        self.resize(terminal, columns)
        environment = {name: value for name, value in os.environ.items() if name != "TERM"}
        sending = subprocess.Popen(
            [JOUST, "send", file, receiver.address, "--limit", "1MB", "--overwrite"],
            stdout=subprocess.PIPE,
            stderr=program_side,
            env=environment | ({"TERM": kind} if kind else {}),
        )
        os.close(program_side)
        text = ""
        try:
            while part := os.read(terminal, 4096):
                text += part.decode()
                if later and "left" in text:
                    self.resize(terminal, later)
                    text, later = "", None
        except OSError:  # what a terminal says at its end
            pass
        sending.communicate(timeout=PATIENCE_S)
        self.assertEqual(sending.returncode, 0, text)
        return text

    @staticmethod
    def resize(terminal, columns):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def test_a_bar_is_narrower_than_the_terminal_also_when_that_has_shrunk(self):
        with Receiver(self.path("in")) as receiver:
            for columns, later in ((80, 20), (30, None)):
                text = self.send(receiver, "xterm", columns, later)
                lines = [line for line in text.split(ERASED) if line]
                self.assertGreater(len(lines), 2, text)
                for line in lines[1:]:  # the first may be of the size before
                    self.assertLess(len(line), later or columns)
                    self.assertIn("%", line)
                    self.assertNotIn(" ns ", line)
                self.assertTrue(text.endswith(ERASED), text)

    def test_a_terminal_without_control_sequences_gets_few_plain_lines(self):
        with Receiver(self.path("in")) as receiver:
            for kind in ("dumb", None):
                text = self.send(receiver, kind, 80)
                self.assertNotIn("\x1b", text)
                lines = text.split("\r\n")  # the terminal has added the first
                self.assertEqual(lines.pop(), "")
                self.assertIn(len(lines), range(1, 4), text)
                for line in lines:
                    self.assertRegex(line, r" %  .* of 2\.00 MB")

    @long
    def test_a_log_gets_a_line_every_ten_seconds(self):
        file = self.make("file", 125_000)
        receiving = subprocess.Popen([JOUST, "receive", "--into", self.path("in")], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)  # fmt: skip
        address = receiving.stdout.readline().split()[2]
        said = run("send", file, address, "--limit", "10kB").stderr
        receiving.terminate()
        self.assertRegex(said, r"^\[#+\.*\]  \d\d %  .* of 125 kB  .* left\n$")
        self.assertRegex(receiving.communicate(timeout=PATIENCE_S)[1],
                         r"^so far \d+\.?\d* kB of files received, 0 B sent\n$")  # fmt: skip

    def test_what_is_no_terminal_gets_no_control_sequences(self):
        file = self.make("file", 2_000_000)
        with Receiver(self.path("in")) as receiver:
            send = ("send", file, receiver.address, "--limit", "1MB", "--overwrite")
            said = run(*send, "--progress", "bar").stderr
            self.assertEqual(run(*send).stderr, "")
        self.assertIn(" % ", said)
        self.assertNotIn("\r", said)
        self.assertNotIn("\x1b", said)


if __name__ == "__main__":
    unittest.main()
