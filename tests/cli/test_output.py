# SPDX-License-Identifier: MIT
"""Where output goes: terminals, locales, and standard output whose reader has left, as head(1) does."""

import os
import subprocess
import unittest

from on_terminal import on_terminal
from program import JOUST, PATIENCE_S, Case, long, run
from transferring import Receiver

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


class ClosedOutput(Case):
    def unread(self, *arguments):
        """What a command whose output nobody reads says on standard error, and its exit code."""
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "wb") as unread:
            done = subprocess.run(
                [JOUST, *arguments], stdout=unread, stderr=subprocess.PIPE, text=True, check=False,
                timeout=PATIENCE_S,
            )
        return done.stderr, done.returncode

    def test_a_reader_of_a_list_may_leave(self):
        commands = ("serve", "load", "race", "report", "send", "receive", "get", "list", "doctor")
        helps = [(command, "--help") for command in commands]
        names = ("engines", "protocols", "scenarios", "doctor")
        lists = [(command, *json) for command in names for json in ((), ("--json",))]
        plan = ("race", "--server", "epoll", "--dry-run")
        for command in (*helps, *lists, plan, ("--help",), ("--version",)):
            self.assertEqual(self.unread(*command), ("", 0), command)

    @long
    def test_a_reader_of_a_result_may_leave(self):
        null = ("load", "-e", "null", "-m", "1")
        for command in (null, (*null, "--json", "-"), (*null, "--events", "--json", self.path("l.json"))):
            self.assertEqual(self.unread(*command), ("", 0), command)
        race = ("race", "--server", "epoll", "-p", "echo", "-c", "2", "-m", "20", "--rounds", "1",
                "--allow-unranked")  # fmt: skip
        for command in (race, (*race, "--json", "-")):
            said, code = self.unread(*command)
            self.assertNotIn("standard output", said)
            self.assertIn(code, (0, 3), said)

    def test_a_reader_of_a_transfer_may_leave(self):
        file = self.path("file")
        with open(file, "wb") as made:
            made.write(bytes(1_000_000))
        os.mkdir(self.path("in"))
        with Receiver(self.path("in")) as receiver:
            at = receiver.address
            send = ("send", file, at, "--overwrite")
            get = ("get", at + "/file", "-o", self.path("copy"))
            for command in (("send", file, at, "--dry-run"), send, (*send, "--progress", "json"),
                            (*send, "--json", "-"), get, (*get, "--overwrite", "--dry-run"),
                            ("list", at), ("list", at, "--json")):  # fmt: skip
                said, code = self.unread(*command)
                self.assertEqual(code, 0, (command, said))
                self.assertNotIn("standard output", said)
            # The bytes of a file that nobody has read are no success, and no message.
            self.assertEqual(self.unread("get", at + "/file", "-o", "-")[1], 1)

    def test_a_reader_of_a_server_may_leave(self):
        for command in ("serve", "-p", "echo"), ("receive", "--into", self.directory, "--events"):
            self.assertEqual(self.unread(*command), ("", 1), "nobody knows where it listens")
            serving = subprocess.Popen([JOUST, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True)  # fmt: skip
            self.assertIn("127.0.0.1", serving.stdout.readline())
            serving.stdout.close()
            serving.terminate()
            self.assertEqual((serving.stderr.read(), serving.wait(60)), ("", 0), command)
            serving.stderr.close()


if __name__ == "__main__":
    unittest.main()
