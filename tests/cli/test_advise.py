# SPDX-License-Identifier: MIT
"""joust advise: from a question to a race, and from its result to a sentence."""

import json
import os
import pty
import subprocess
import unittest

from program import CALCULATOR, JOUST, PATIENCE_S, Case, long, run


def engines_of(words):
    return words[words.index("--server") + 1].split(",")


class Advise(Case):
    def dry(self, *arguments):
        """The words of the race for this question, and the remarks."""
        done = run("advise", *arguments, "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        line, end = done.stdout.split("\n")
        self.assertEqual(end, "")
        words = line.split()
        self.assertEqual(words[:2], ["joust", "race"])
        return words, done.stderr

    def has(self, words, *expected):
        self.assertIn(" ".join(expected), " ".join(words))

    def test_busy_connections_are_a_closed_loop_of_echo(self):
        words, remarks = self.dry("--connections", 2000, "--payload", 200, "--work", 0, "--time", "60s")
        self.has(words, "-p echo -c 2000 --payload 200 --time 60s")
        self.assertNotIn("-R", words)
        self.assertEqual(engines_of(words)[0], "epoll")
        self.assertNotIn("threads", engines_of(words))  # 2,000 of them
        self.assertIn("threads", engines_of(self.dry("--connections", 50)[0]))
        self.assertNotIn("udp-batched", engines_of(words))

    def test_idle_connections_are_a_rate(self):
        words, _ = self.dry("--connections", "10k", "--idle", "95%")
        self.has(words, "-c 10000 -R 500")
        self.assertNotIn("threads", engines_of(words))
        self.has(self.dry("--connections", 1000, "--idle", "12.5%")[0], "-R 875")
        self.assertNotIn("-R", self.dry("--connections", 10, "--idle", "0%")[0])

    def test_work_is_that_of_the_protocol_work(self):
        words, remarks = self.dry("--work", "1ms", "--payload", 200)
        self.has(words, "-p work -c 64 --work 1ms")
        self.assertNotIn("--payload", words)
        self.assertIn("--payload 200 B is left out", remarks)
        pools = [name for name in engines_of(words) if "pool" in name]
        self.assertEqual(bool(pools), len(os.sched_getaffinity(0)) > 1)
        self.assertFalse([name for name in engines_of(self.dry("--work", "1us")[0]) if "pool" in name])

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core has no place for this work")
    def test_short_work_that_one_core_has_no_time_for_goes_to_pools(self):
        words, _ = self.dry("--connections", 100_000, "--idle", "10%", "--work", "15us")
        self.assertTrue(all("-pool:threads=" in name for name in engines_of(words)), words)

    def test_datagrams_race_only_where_messages_may_be_lost(self):
        self.assertIn("udp-batched", engines_of(self.dry("--datagrams")[0]))
        self.assertIn("epoll", engines_of(self.dry("--datagrams")[0]))

    def test_the_command_can_be_repeated(self):
        for question in (("--connections", 200), ("--work", "50us"), ("--datagrams",),
                         ("--connections", 5000, "--idle", "90%")):
            with self.subTest(question):
                words, _ = self.dry(*question)
                plan = run(*words[1:], "--dry-run")
                self.assertEqual(plan.returncode, 0, plan.stderr)

    def test_questions_that_no_race_answers(self):
        done = run("advise", "--connections", 50, "--idle", "95%")
        self.refused(done, "2.5 messages a second", "--time ")
        longer = done.stderr.split("--time ")[1].split()[0]
        self.has(self.dry("--connections", 50, "--idle", "95%", "--time", longer)[0], "-R 2.5")
        self.refused(run("advise", "--connections", 100_000, "--idle", "10%", "--work", "50ms"),
                     "s of work in each second", "fewer connections")
        self.refused(run("advise", "--work", "1ms", "--payload", "1MiB"), "--payload 1 MiB with --work")
        self.refused(run("advise", "--datagrams", "--payload", "100k"), "ask without --datagrams")
        few = ("sh", "-c", 'ulimit -n 500 && exec "$0" "$@"', JOUST)
        self.refused(run("advise", "--connections", 1000, "--time", "1s", program=few), "ulimit -Hn")

    def test_bad_values(self):
        for option, value in (("--idle", "100%"), ("--idle", "0.95"), ("--connections", 0), ("--work", "1s"),
                              ("--work", 5), ("--payload", 0), ("--time", 0)):
            with self.subTest((option, value)):
                self.refused(run("advise", option, value), option)
        self.refused(run("advise", "--conections", 5), "--connections")

    def test_without_a_terminal_it_says_what_to_give(self):
        done = subprocess.run([JOUST, "advise"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)
        self.refused(done, "no terminal", "--connections", "--idle", "--work", "--payload", "--datagrams")

    def on_terminal(self, typed, *arguments):
        """A program whose standard input is a terminal on which this is typed."""
        terminal, side = pty.openpty()
        os.write(terminal, typed.encode())
        done = subprocess.run([JOUST, "advise", *arguments], stdin=side, capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)
        os.close(side)
        os.close(terminal)
        return done

    def test_on_a_terminal_it_asks(self):
        done = self.on_terminal("2000\n\n\n 200 \nno\n", "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        given = run("advise", "--connections", 2000, "--payload", 200, "--dry-run")
        self.assertEqual(done.stdout, given.stdout)
        self.assertEqual(done.stderr.count("?"), 4 + 1)

    def test_on_a_terminal_it_asks_again(self):
        done = self.on_terminal("many\n300\n\n1ms\nno\n", "--dry-run", "--time", "5s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("-c 300 --work 1ms", done.stdout)
        self.assertIn("--time 5s", done.stdout)
        self.assertIn("'many'", done.stderr)
        self.assertNotIn("How many bytes", done.stderr)  # requests with work have none
        self.refused(self.on_terminal("a\nb\nc\n"), "--connections: 'c'")
        self.refused(self.on_terminal("5\n\x04"), "the terminal was closed")

    @long
    def test_it_races_and_answers(self):
        files = self.path("result.json"), self.path("page.html")
        done = run("advise", "--connections", 8, "--time", "3s", "--json", files[0], "--html", files[1],
                   "--progress", "none")
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.assertIn("joust race --server epoll,", done.stderr)
        self.assertIn("Loopback", done.stdout)  # the report of the race
        words = " ".join(done.stdout.split())
        self.assertIn(f"The report is in {files[0]} and {files[1]}.", words)
        answer = words[words.index("Advice: "):]
        self.assertRegex(answer, "epoll|threads|nothing can be advised")
        self.valid(files[0])
        with open(files[0], encoding="utf-8") as text:
            result = json.load(text)
        self.assertTrue(result["cases"][0]["verdict"])

    def test_the_document_alone_on_standard_output(self):
        done = run("advise", "--connections", 2, "--time", "1s", "--json", "-", "--progress", "none")
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.assertIn("cases", json.loads(done.stdout))
        self.assertIn("Advice: ", done.stderr)

    def test_programs_with_other_protocols_have_none(self):
        self.refused(run("advise", program=CALCULATOR), "no command 'advise'")


if __name__ == "__main__":
    unittest.main()
