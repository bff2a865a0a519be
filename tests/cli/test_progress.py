# SPDX-License-Identifier: MIT
"""How far a load and a transfer are: on terminals of several sizes, and on what is none."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
import unittest

from on_terminal import on_terminal
from program import JOUST, PATIENCE_S, Case, Server, long, run
from transferring import Receiver, TransferCase

NULL = ("load", "-e", "null", "-p", "echo", "-c", 4)
HEAD = "    time   messages/s       p50       p99   errors\n"
LINE = r" +(\S+ m?s) +([\d,.]+) +(\S+ [mnu]?s|–) +(\S+ [mnu]?s|–) +([\d,]+)"


def lines(text):
    """The parts of all lines below the head."""
    assert text.startswith(HEAD), text
    return [re.fullmatch(LINE, line).groups() for line in text.removeprefix(HEAD).splitlines()]


class OfLoads(Case):
    @staticmethod
    def start(*arguments):
        command = [JOUST, *map(str, arguments), "--progress", "100ms"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_a_terminal_gets_a_line_each_second_above_the_result(self):
        text, code = on_terminal(*NULL, "-d", "2s", kind="dumb")
        self.assertEqual(code, 0)
        shown, result = text.split("echo on null", 1)
        self.assertEqual([line[0] for line in lines(shown)], ["1 s", "2 s"])
        self.assertIn("throughput", result)
        self.assertEqual(on_terminal(*NULL, "-d", "1100ms", "--progress", "none")[0].count("messages/s"), 1)

    def test_what_is_no_terminal_gets_lines_where_they_are_asked_for(self):
        self.assertEqual(run(*NULL, "-d", "1100ms").stderr, "")
        self.assertEqual(run(*NULL, "-d", "1100ms", "--progress").stderr, "", "each 10 s")
        with Server("-p", "echo") as server:
            for engine in "epoll", "epoll:threads=2", "threads", "two-processes":
                load = ("load", "-e", engine, "-p", "echo", "-c", 30, "--connect", server.address)
                done = run(*load, "-w", "50ms", "-d", "1s", "--progress", "250ms")
                self.assertEqual(done.returncode, 0, done.stderr)
                shown = lines(done.stderr)
                self.assertEqual([line[0] for line in shown[:4]], ["250 ms", "500 ms", "750 ms", "1 s"])
                self.assertEqual({line[4] for line in shown}, {"0"})
                # More lines where the end is late; a busy machine may keep a load from an interval.
                rates = {rate: p50 for _, rate, p50, _, _ in shown[:4] if float(rate.replace(",", "")) > 0}
                self.assertTrue(rates, done.stderr)
                self.assertNotIn("–", rates.values())
                self.assertTrue(done.stdout.startswith("echo on "), done.stdout)

    def test_percentiles_of_few_messages_are_not_given(self):
        shown = lines(run(*NULL, "-R", 12, "--arrivals", "constant", "-d", "1s", "--progress", "1s").stderr)
        self.assertEqual(shown[0][2:], ("–", "–", "0"))

    def test_errors_are_counted_in_their_interval(self):
        with Server("-p", "echo") as server:
            load = self.start("load", "-p", "echo", "-c", 5, "--connect", server.address, "-d", "5s")
            time.sleep(0.5)
            server.tell(signal.SIGKILL)
            said = load.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(load.returncode, 1)
        shown = lines(said[: said.index("joust: ")])
        self.assertIn(sum(int(line[4]) for line in shown), (0, 5), "in the last interval, if whole")

    def test_a_load_that_is_killed_leaves_no_process(self):
        load = self.start(*NULL, "-d", "60s")
        self.assertEqual(load.stderr.readline(), HEAD)
        load.kill()
        load.communicate(timeout=PATIENCE_S)  # standard error ends when no process has it any more

    def test_a_stop_ends_the_lines_and_shows_the_result(self):
        load = self.start(*NULL, "-d", "60s")
        self.assertEqual(load.stderr.readline(), HEAD)
        load.send_signal(signal.SIGINT)
        printed, _ = load.communicate(timeout=PATIENCE_S)
        self.assertIn("interrupted: these are the figures up to then", printed)

    def test_times_that_make_no_sense(self):
        self.refused(run(*NULL, "-m", 1, "--progress", "1ms"), "--progress: 1ms is not between 10.0 ms and")
        self.refused(run(*NULL, "-m", 1, "--progress", "bar"), "--progress: 'bar' is not a number", "none")
        self.refused(run(*NULL, "--search", "p50<1s", "--progress"), "--search excludes --progress")


ERASED = "\r\x1b[K"


class OfTransfers(TransferCase):
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
