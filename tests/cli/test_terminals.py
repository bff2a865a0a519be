# SPDX-License-Identifier: MIT
"""What reaches a terminal, and what does not: escapes, colours."""

import unittest

from on_terminal import on_terminal
from program import Case, run

RACE = ("race", "--server", "epoll,threads", "-p", "echo", "-c", 4, "--rounds", 1, "-d", "60ms", "-w", "20ms")
SEARCH = ("load", "-p", "echo", "--connect", "127.0.0.1:1", "--search", "p50<1s")  # it ends at once


class Escapes(Case):
    def test_a_terminal_gets_colours_and_a_live_line(self):
        text, _ = on_terminal(*RACE)
        self.assertIn("\x1b[1m", text)
        self.assertIn("\r\x1b[Kround 1", text)
        self.assertIn("\r\x1b[K1,000 messages/s ...", on_terminal(*SEARCH)[0])

    def test_without_colours_the_line_is_live_all_the_same(self):
        text, _ = on_terminal(*RACE, NO_COLOR="1")
        self.assertIn("\r\x1b[Kround 1", text)
        self.assertEqual(text.count("\x1b["), text.count("\x1b[K"))

    def test_what_obeys_no_escapes_gets_none(self):
        for command in RACE, SEARCH, ("engines",), ("--help",):
            for kind in "dumb", None, "":
                with self.subTest(command, kind=kind):
                    text, _ = on_terminal(*command, kind=kind)
                    self.assertNotIn("\x1b", text)
                    self.assertNotIn("\r", text)
            done = run(*command)
            self.assertNotIn("\x1b", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
