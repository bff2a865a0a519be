# SPDX-License-Identifier: MIT
"""What happens to a result: it is kept, where it belongs, whatever becomes of the terminal."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time
import unittest

from on_terminal import on_terminal
from program import JOUST, Case, run

NULL = ("load", "-e", "null", "-p", "echo", "-c", 2)


class Results(Case):
    def start(self, *arguments, **more):
        return subprocess.Popen([JOUST, *map(str, arguments)], stderr=subprocess.PIPE, text=True, **more)

    def test_a_result_is_kept_where_nothing_can_be_printed(self):
        race = ("race", "--server", "epoll,poll", "-p", "echo", "-c", 2, "-m", 20, "--quick", "--rounds", 3)
        for command in (*NULL, "-m", 5), race:
            file = self.path(f"{command[0]}.json")
            with open("/dev/full", "w", encoding="ascii") as full:
                started = self.start(*command, "--json", file, stdout=full)
                errors = started.communicate(timeout=60)[1]
            self.assertEqual(started.returncode, 1)
            self.assertTrue(errors.endswith("joust: standard output: cannot be written\n"), errors)
            self.assertIn("schema", json.loads(pathlib.Path(file).read_text(encoding="utf-8")))

    def test_events_that_cannot_be_printed_are_no_success(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            started = self.start(*NULL, "-m", 5, "--events", "--json", self.path("e.json"), stdout=full)
            started.communicate(timeout=60)
            self.assertEqual(started.returncode, 1)
            serving = self.start("serve", "-p", "echo", stdout=full)
            self.assertIn("standard output", serving.communicate(timeout=60)[1])
            self.assertEqual(serving.returncode, 1)

    def test_nohup_protects(self):
        file = self.path("kept.json")
        started = self.start(*NULL, "-d", "500ms", "--json", file, stdout=subprocess.DEVNULL,
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        time.sleep(0.2)
        started.send_signal(signal.SIGHUP)
        started.communicate(timeout=60)
        self.assertEqual(started.returncode, 0)
        self.assertFalse(json.loads(pathlib.Path(file).read_text(encoding="utf-8"))["interrupted"])

    def test_a_file_of_the_run_itself_is_not_overwritten(self):
        scenario = self.path("own.toml")
        text = 'matrix = { servers = ["epoll"] }\n[load]\nmessages = 1\n'
        pathlib.Path(scenario).write_text(text, encoding="ascii")
        self.refused(run("race", scenario, "--json", scenario), "own.toml: this run uses that file itself")
        output = self.path("o.iso")
        get = ("load", "--connect", "127.0.0.1:9", "-p", "file", "--name", "a", "--output", output)
        self.refused(run(*get, "--json", output), "this run uses that file itself")
        for command in (*NULL, "-m", 1), ("race", "--server", "epoll"):
            self.refused(run(*command, "--json", ""), "--json: the value is empty")

    def test_a_pipe_is_written_once(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        read = []
        whole = pathlib.Path(pipe).read_text
        reader = threading.Thread(target=lambda: read.append(whole(encoding="utf-8")))
        reader.start()
        done = run(*NULL, "-m", 5, "--json", pipe)
        reader.join(60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(read[0])["messages"]["verified"], 10)

    def test_control_characters_do_not_reach_the_terminal(self):
        scenario = self.path("evil.toml")
        text = '[[contestant]]\nname = "evil\\u001b[2J"\nserver = "epoll"\n[load]\nmessages = 1\n'
        pathlib.Path(scenario).write_text(text, encoding="ascii")
        done = run("race", scenario)
        self.refused(done, "without control characters")
        self.assertNotIn("\x1b", run("serve", "-e", "\x1b[2J").stderr)
        pathlib.Path(scenario).write_text(
            'title = "a\\u001b[31mRED\\u0007"\nmatrix = { servers = ["epoll"] }\nrounds = 1\n'
            '[[case]]\nname = "b\\u001b[2J"\ntitle = "\\u009b2J"\nload = { duration = "60ms", warmup = 0 }\n',
            encoding="ascii")
        text, _ = on_terminal("race", scenario, columns=200)
        self.assertIn("a\\x1b[31mRED\\x07\n", re.sub("\x1b\\[[0-9]*m", "", text))
        self.assertNotIn("\x07", text)
        self.assertNotIn("\x9b", text)
        self.assertNotIn("\x1b[2J", text)
        self.assertNotIn("\x1b[31mRED", text)
        self.assertNotIn("\x1b", run("race", scenario, "--dry-run").stdout)

    def test_an_empty_name_of_a_folder_for_temporary_files_is_none(self):
        race = ("race", "--server", "epoll", "-c", 2, "-d", "50ms", "-w", 0, "--rounds", 1)
        done = run(*race, program=["env", "TMPDIR=", JOUST])
        self.assertIn("messages/s", done.stdout, done.stderr)
        done = run(*race, program=["env", "TMPDIR=" + self.path("none"), JOUST])
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"can be made in {self.path('none')} (TMPDIR names another)", done.stderr)

    def test_a_load_ends_with_the_failure_of_its_last_connection(self):
        with socket.create_server(("127.0.0.1", 0)) as deaf:  # nobody accepts, and nobody reads
            began = time.monotonic()
            done = run("load", "--connect", f"127.0.0.1:{deaf.getsockname()[1]}", "-p", "echo", "-c", 1,
                       "--payload", "1MiB", "--depth", 16, "--request-timeout", "300ms", "-d", "300ms")
        self.assertEqual(done.returncode, 1)
        self.assertLess(time.monotonic() - began, 30, "the idle limit is 60 s")


if __name__ == "__main__":
    unittest.main()
