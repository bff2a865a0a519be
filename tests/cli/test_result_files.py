# SPDX-License-Identifier: MIT
"""What becomes of a result: it is kept where it belongs, whatever its file and the terminal become."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

from on_terminal import on_terminal
from program import JOUST, PATIENCE_S, Case, run

LOAD = ("load", "-e", "null", "-p", "echo", "-c", 2, "-m", 5)


def content(file):
    return json.loads(pathlib.Path(file).read_text(encoding="utf-8"))


class ResultFiles(Case):
    def write(self, name, text="old"):
        pathlib.Path(self.path(name)).write_text(text, encoding="utf-8")
        return self.path(name)

    def in_namespace(self, mounts):
        """The command that runs joust behind these mounts, which are its own."""
        shell = ["sh", "-c", mounts + ' && exec "$0" "$@"']
        command = ["unshare", "-m", "--propagation", "private", *shell, JOUST]
        with contextlib.suppress(FileNotFoundError):
            if subprocess.run([*command, "--version"], capture_output=True, check=False).returncode == 0:
                return command
        raise unittest.SkipTest("needs unshare, and the right to mount")

    def test_a_file_that_is_mounted_by_itself_is_written_in_place(self):
        outside, inside = self.write("outside"), self.write("inside")
        mounted = self.in_namespace(f'mount --bind "{outside}" "{inside}"')
        for command in LOAD, ("race", "--server", "epoll", "-c", 2, "-d", "50ms", "-w", 0, "--rounds", 1):
            self.write("outside")
            done = run(*command, "--json", inside, program=mounted)
            self.assertNotIn("cannot be written", done.stderr)
            self.assertIn("schema", content(outside), done.stderr)
        self.assertEqual(sorted(os.listdir(self.directory)), ["inside", "outside"])

    def test_a_file_in_a_folder_that_takes_no_names_is_written_in_place(self):
        os.mkdir(self.path("folder"))
        file, outside = self.write("folder/file"), self.write("outside")
        folder = self.path("folder")
        read_only = self.in_namespace(
            f'mount --bind "{folder}" "{folder}" && mount --bind "{outside}" "{file}" && '
            f'mount -o remount,bind,ro "{folder}"')
        done = run(*LOAD, "--json", file, program=read_only)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(content(outside)["messages"]["verified"], 10)
        self.refused(run(*LOAD, "--json", folder + "/new", program=read_only), "Read-only file system")

    def test_a_link_that_leads_to_nothing_yet_stays_one(self):
        os.mkdir(self.path("folder"))
        for link, target in (("link", "folder/new"), ("second", "link")):
            os.symlink(target, self.path(link))
        self.assertEqual(run(*LOAD, "--json", self.path("second")).returncode, 0)
        self.assertTrue(os.path.islink(self.path("second")) and os.path.islink(self.path("link")))
        self.assertIn("schema", content(self.path("folder/new")))

    def test_what_cannot_be_written_is_refused_before_the_run(self):
        os.symlink("none/new", self.path("link"))
        os.symlink("loop", self.path("loop"))
        for file, reason in (("none/new", "No such file or directory"), ("link", "No such file or directory"),
                             ("loop", "Too many levels of symbolic links"), (".", "Is a directory")):
            done = run(*LOAD, "--json", self.path(file))
            self.refused(done, f"--json {self.path(file)}: cannot be written: {reason}\n")
        self.refused(run(*LOAD, "--json", "/dev/fd/77"), "/dev/fd/77: cannot be written: Bad file descriptor")

    def run_without_folder(self, command, file, temporary):
        """Takes the folder of the result away while the command runs."""
        os.mkdir(self.path("folder"))
        running = subprocess.Popen(
            [JOUST, *map(str, command), "--json", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=os.environ | {"TMPDIR": temporary})
        with open(f"/proc/{running.pid}/stat", encoding="ascii") as stat:
            ticks = 0  # of user time
            while running.poll() is None and ticks < 10:
                stat.seek(0)
                ticks = int(stat.read().rsplit(")")[1].split()[11])
        shutil.rmtree(self.path("folder"))
        printed, said = running.communicate(timeout=PATIENCE_S)
        self.assertEqual(running.returncode, 1, said)
        self.assertIn(f"joust: --json {file}: cannot be written: No such file or directory; ", said)
        return printed, said

    def test_a_result_whose_folder_is_gone_is_elsewhere(self):
        file, temporary = self.path("folder/result"), self.path("temporary")
        os.mkdir(temporary)
        command = ("load", "-e", "null", "-p", "echo", "-d", "1s")
        printed, said = self.run_without_folder(command, file, temporary)
        self.assertIn("throughput", printed)
        elsewhere = re.search(r"the result is in (.*/joust-result-\w+\.json)\n", said).group(1)
        self.assertGreater(content(elsewhere)["messages"]["verified"], 0)
        self.assertEqual(os.path.dirname(elsewhere), temporary)
        printed, said = self.run_without_folder(command, file, self.path("none"))
        self.assertIn("throughput", printed)
        self.assertTrue(said.endswith("the result is above\n"), said)
        self.assertGreater(json.loads(said[:said.index("\njoust: ")])["messages"]["verified"], 0)

    def test_a_result_and_a_table_behind_one_redirection(self):
        for name in "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
            with open(self.path("all"), "w", encoding="utf-8") as output:
                subprocess.run([JOUST, *map(str, LOAD), "--json", name], stdout=output, check=True)
            text = pathlib.Path(self.path("all")).read_text(encoding="utf-8")
            end = text.index("\n}\n") + 3
            self.assertEqual(json.loads(text[:end])["messages"]["verified"], 10)
            self.assertIn("throughput", text[end:])

    def test_a_table_that_standard_output_does_not_take_is_on_standard_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([JOUST, *map(str, LOAD)], stdout=full, stderr=subprocess.PIPE, text=True,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("10 verified", done.stderr)
        self.assertTrue(done.stderr.endswith("joust: standard output: cannot be written\n"), done.stderr)


NULL = ("load", "-e", "null", "-p", "echo", "-c", 2)


class OfTheRun(Case):
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
