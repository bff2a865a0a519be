# SPDX-License-Identifier: MIT
"""joust race --command: servers of somebody else, without a scenario file."""

import json
import sys
import unittest

from program import Case, run

# Echoes on the port of its first argument.
SERVER = """
import socket, sys, threading
def echo(peer):
    while data := peer.recv(1 << 16):
        peer.sendall(data)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
while True:
    threading.Thread(target=echo, args=(listener.accept()[0],), daemon=True).start()
"""
SHORT = ("-p", "echo", "-c", 2, "-d", "60ms", "-w", "10ms", "--rounds", 1, "--allow-unranked")


class Commands(Case):
    def server(self, name="server.py", before=""):
        """The command that runs a server, which does `before` first."""
        script = self.path(name)
        with open(script, "w", encoding="utf-8") as text:
            text.write(before + SERVER)
        return f"exec {sys.executable} -u {script} {{port}}"

    def race(self, *arguments):
        """The finished process of a short race, and its contestants by name."""
        file = self.path("result.json")
        done = run("race", *SHORT, *arguments, "--json", file)
        with open(file, encoding="utf-8") as text:
            entries = json.load(text)["contestants"]
        return done, {entry["name"]: entry for entry in entries if entry["kind"] == "contestant"}

    def test_old_and_new_race_without_a_file_and_beside_an_engine(self):
        old, new = self.server("old.py"), self.server("new.py")
        done, contestants = self.race("--command", f"old={old}", "--server", "epoll",
                                      "--command", f"new={new}")  # fmt: skip
        self.assertEqual(list(contestants), ["old", "new", "epoll"])
        self.assertEqual(contestants["new"]["server"], {"engine": "external", "command": new})
        for entry in contestants.values():
            self.assertNotIn("failure", entry["trials"][0], done.stderr)
        self.assertIn("ratio to old", done.stdout)

    def test_a_command_that_is_wrong_is_named(self):
        cases = {
            ("./server",): "'./server': there is no equals sign; write NAME=COMMAND",
            ("=./server",): "there is no name before the equals sign",
            ("old=",): "'old=': there is no command after the equals sign",
            ("./server --port={port}",): "the name before the equals sign is './server --port'",
            ("a=./x", "a=./y"): "'a=./y': another contestant is called 'a'",
            ("a=./x {prot}",): "did you mean {port}?",
        }
        for commands, words in cases.items():
            with self.subTest(commands):
                flags = [word for command in commands for word in ("--command", command)]
                self.refused(run("race", *flags), "--command ", words)
        self.refused(run("race", "-p", "echo"), "there are no contestants", "--command NAME=")


if __name__ == "__main__":
    unittest.main()
