# SPDX-License-Identifier: MIT
"""What reaches a terminal, and what does not: escapes, colours, characters that the locale lacks."""

import unittest

from on_terminal import on_terminal
from program import Case, long, run

RACE = ("race", "--server", "epoll,threads", "-p", "echo", "-c", 4, "--rounds", 1, "-d", "60ms", "-w", "20ms")
SEARCH = ("load", "-p", "echo", "--connect", "127.0.0.1:1", "--search", "p50<1s")  # it ends at once


class Escapes(Case):
    def test_a_terminal_gets_colours_and_a_live_line(self):
        text, _ = on_terminal(*RACE)
        self.assertIn("\x1b[1m", text)
        self.assertIn("\r\x1b[Kround 1", text)
        self.assertIn("\r\x1b[Kthe capacity ...", on_terminal(*SEARCH)[0])

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


class Locales(Case):
    @staticmethod
    def shown(command, **locale):
        unset = {"LC_ALL": "", "LC_CTYPE": "", "LANG": ""}
        return on_terminal(*command, kind="dumb", columns=140, **(unset | locale))[0]  # room for bars

    @long
    def test_without_utf_8_all_is_ascii(self):
        title = self.path("title.toml")
        with open(title, "w", encoding="utf-8") as file:
            file.write('title = "Größe"\nmatrix = { servers = ["epoll"] }\n')
        race = ("race", title, *RACE[3:])
        for locale in {"LC_ALL": "C"}, {"LC_ALL": "POSIX", "LANG": "C.UTF-8"}, {"LANG": "de_DE.ISO-8859-1"}:
            text = self.shown(race, **locale)
            self.assertTrue(text.isascii(), text)
            self.assertIn("Gr\\xc3\\xb6\\xc3\\x9fe\n", text)
            self.assertRegex(text, r"epoll .* ###+ ")
        for locale in {"LC_CTYPE": "C.utf8"}, {"LANG": "de_DE.UTF-8"}, {}:
            text = self.shown(race, **locale)
            self.assertIn("Größe\n", text)
            self.assertIn("█", text)

    def test_an_error_is_ascii_too_and_json_is_utf_8(self):
        self.assertIn("no engine '\\xc3\\xa9poll'", self.shown(("serve", "-e", "époll"), LC_ALL="C"))
        load = ("load", "-e", "null", "-p", "broadcast", "-c", 2, "-m", 1, "--json", "-")
        self.assertTrue(self.shown(load, LC_ALL="C").startswith("{"))


if __name__ == "__main__":
    unittest.main()
