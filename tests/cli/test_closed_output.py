# SPDX-License-Identifier: MIT
"""Standard output whose reader has left, as head(1) does: no message, whatever the sub-command."""

import os
import subprocess
import unittest

from program import JOUST, PATIENCE_S, Case, long
from transferring import Receiver


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
