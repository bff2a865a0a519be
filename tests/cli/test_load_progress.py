# SPDX-License-Identifier: MIT
"""The lines that a load shows while it runs."""

import re
import signal
import subprocess
import time
import unittest

from on_terminal import on_terminal
from program import JOUST, PATIENCE_S, Case, Server, run

NULL = ("load", "-e", "null", "-p", "echo", "-c", 4)
HEAD = "    time   messages/s       p50       p99   errors\n"
LINE = r" +(\S+ m?s) +([\d,.]+) +(\S+ [mnu]?s|–) +(\S+ [mnu]?s|–) +([\d,]+)"


def lines(text):
    """The parts of all lines below the head."""
    assert text.startswith(HEAD), text
    return [re.fullmatch(LINE, line).groups() for line in text.removeprefix(HEAD).splitlines()]


class Progress(Case):
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


if __name__ == "__main__":
    unittest.main()
