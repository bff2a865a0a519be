# SPDX-License-Identifier: MIT
"""Loads and races whose server dies and comes back, or is not there."""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
import unittest

from program import JOUST, PATIENCE_S, Case, Server, long, run, wait_until_caught

ALWAYS = ("--reconnect", "always", "--backoff", "5ms..50ms")
ENGINES = ("epoll", "threads", "two-threads", "two-processes")


def free_port():
    """A port that the kernel gives to nobody by itself: a load dials it before a server has it, and must not
    meet the server of another test there."""
    while True:
        port = random.randrange(10_000, 30_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@contextlib.contextmanager
def served(port, protocol="echo", kills=True):
    """A server at that port, which is killed in the end, or told to stop."""
    with Server("-p", protocol, "--listen", f"127.0.0.1:{port}") as server:
        yield server
        if kills:
            server.process.kill()
        else:
            server.tell(signal.SIGTERM)
        server.process.wait(PATIENCE_S)


@contextlib.contextmanager
def deaf():
    """An address whose accept queue is full: the kernel answers no further connect."""
    with socket.socket() as listener, contextlib.ExitStack() as queued:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(3):
            client = queued.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        yield f"127.0.0.1:{listener.getsockname()[1]}"


class Stages(Case):
    def test_a_name_that_nobody_knows(self):
        done = run("load", "-e", "epoll", "-p", "echo", "--connect", "no-such-host.invalid:1", "-m", 1)
        self.assertEqual(done.returncode, 1)
        self.assertIn("resolve 'no-such-host.invalid:1'", done.stderr)

    def test_a_connect_that_is_not_answered(self):
        for engine in ENGINES:
            with self.subTest(engine), deaf() as address:
                begin = time.monotonic()
                done, result = self.load("-e", engine, "--connect", address, "-c", 2, "-m", 1,
                                         "--connect-timeout", "100ms")
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr, f"joust: connect {address}: Connection timed out\n")
                self.assertEqual(result["errors"], {"connect": 2})
                self.assertGreaterEqual(time.monotonic() - begin, 0.1)


class Killed(Case):
    def load_over_a_kill(self, engine, *plan, **how):
        """The result of a load whose server is killed in the middle, and started again."""
        port, file, protocol = free_port(), self.path("load.json"), how.get("protocol", "echo")
        with served(port, **how) as server:
            load = subprocess.Popen(
                [JOUST, "load", "-e", engine, "-p", protocol, "--connect", server.address, "-c", "5",
                 "--events", "--json", file, *map(str, plan)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while json.loads(load.stdout.readline())["event"] != "measuring":
                pass
            time.sleep(0.1)
        with served(port, **how):
            _, complaint = load.communicate(timeout=PATIENCE_S)
        with open(file, encoding="utf-8") as text:
            result = json.load(text)
        messages = result["messages"]
        self.assertEqual(messages["sent"], messages["verified"] + messages["failed"] + messages["in_flight"])
        self.assertEqual(result["latency_ns"]["samples"], messages["verified"])
        return load.returncode, complaint, result

    def test_all_come_back(self):
        plans = (("-d", "2s"), ("-d", "2s", "-R", "1k"), ("-m", 200, "-i", "5ms"))
        others = [(engine, plans[0]) for engine in ENGINES[1:]]
        for engine, plan in [("epoll", plan) for plan in plans] + others:
            with self.subTest(engine=engine, plan=plan):
                code, complaint, result = self.load_over_a_kill(engine, *plan, *ALWAYS)
                # A connection may be opened by the kernel for a server that is being killed, and lost again.
                self.assertGreaterEqual(result["reconnects"], 5)
                self.assertEqual(result["connections"],
                                 {"ok": 5, "failed": 0, "answered": 5, "never_answered": 0})
                self.assertLessEqual(result["messages"]["failed"], result["reconnects"])
                self.assertEqual(code, 1 if result["messages"]["failed"] else 0)
                self.assertIn("receive: ", complaint)
                self.assertEqual(result["plan"]["reconnect"], "always")
                self.assertEqual(result["plan"]["backoff_s"], [0.005, 0.05])

    def test_a_server_that_says_goodbye_is_dialled_again(self):
        _, complaint, result = self.load_over_a_kill("epoll", "-m", 300, "-i", "5ms", *ALWAYS,
                                                     protocol="websocket", kills=False)
        self.assertGreaterEqual(result["reconnects"], 5)
        self.assertEqual(result["connections"], {"ok": 5, "failed": 0, "answered": 5, "never_answered": 0})
        self.assertNotIn("verify", result["errors"])
        self.assertIn("receive: the server closes the connection with the code 1001", complaint)

    def test_never_ends_the_load(self):
        code, _, result = self.load_over_a_kill("epoll", "-d", "60s")
        self.assertEqual(code, 1)
        self.assertEqual(result["reconnects"], 0)
        self.assertEqual(result["connections"]["failed"], 5)


class Absent(Case):
    def test_dials_until_the_limit(self):
        for engine in ENGINES:
            for plan in (("-d", "300ms"), ("-m", 5, "--reconnect-for", "300ms")):
                with self.subTest(engine=engine, plan=plan):
                    begin = time.monotonic()
                    done, result = self.load("-e", engine, "--connect", "127.0.0.1:1", "-c", 3, *plan,
                                             *ALWAYS)
                    self.assertGreaterEqual(time.monotonic() - begin, 0.3)
                    self.assertEqual(done.returncode, 1)
                    self.assertEqual(done.stderr, "joust: connect 127.0.0.1:1: Connection refused\n")
                    self.assertGreater(result["errors"]["connect"], 6)
                    self.assertEqual(result["connections"],
                                     {"ok": 0, "failed": 3, "answered": 0, "never_answered": 0})

    def test_begins_when_the_server_is_there(self):
        port, file = free_port(), self.path("load.json")
        load = subprocess.Popen([JOUST, "load", "--connect", f"127.0.0.1:{port}", "-c", "5", "-m", "10",
                                 "--json", file, *ALWAYS], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)
        time.sleep(0.2)
        with served(port):
            output, _ = load.communicate(timeout=PATIENCE_S)
        self.assertEqual(load.returncode, 0)
        self.assertIn("50 verified, 0 failed", output)
        self.assertRegex(output, r"failed       \d+ dials at stage connect")

    def test_a_stop_ends_the_pause(self):
        load = subprocess.Popen([JOUST, "load", "--connect", "127.0.0.1:1", "-d", "1h",
                                 "--reconnect", "always", "--backoff", "1h"],
                                stderr=subprocess.PIPE, text=True)
        wait_until_caught(load, signal.SIGINT)
        load.send_signal(signal.SIGINT)
        load.communicate(timeout=PATIENCE_S)
        self.assertEqual(load.returncode, 1)


class Refusals(Case):
    def test_options_that_mean_nothing(self):
        for words, why in (
            (("--backoff", "1s"), "needs --reconnect always"),
            (("--reconnect-for", "1s"), "needs --reconnect always"),
            (("--reconnect", "always", "--backoff", "1s..50ms"), "the second time is the longer one"),
            (("--reconnect", "always", "--backoff", "1us"), "allowed: 1ms to 3600s"),
            (("--reconnect", "always", "--search", "p99<1ms"), "excludes"),
            (("--reconnect", "often"), "often"),
        ):
            with self.subTest(words):
                self.refused(run("load", "--connect", "127.0.0.1:1", *words), why)

    def test_protocols_and_engines_that_cannot(self):
        for protocol, why in (("broadcast", "missed messages"), ("file", "transfer")):
            with self.subTest(protocol):
                self.refused(run("load", "-p", protocol, "--connect", "127.0.0.1:1", *ALWAYS),
                             "unsupported: no reconnecting", why)
        self.refused(run("load", "-e", "null", *ALWAYS), "has no sockets")

    def test_a_race_of_them_is_refused_before_anything_starts(self):
        done = run("race", "--server", "epoll", "-p", "broadcast", "--reconnect", "always", "--dry-run")
        self.assertIn("unsupported: no reconnecting", done.stdout + done.stderr)


RESETTING = """
    import socket, struct, sys, threading
    def serve(peer):
        left = 2000  # soon, so that a slow machine gets there in the window too
        while left > 0 and (data := peer.recv(4096)):
            peer.sendall(data)
            left -= len(data)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=100)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""


class InARace(Case):
    def race(self, *arguments):
        with open(self.path("resetting.py"), "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(RESETTING))
        scenario, result = self.path("race.toml"), self.path("race.json")
        with open(scenario, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(f"""
                protocol = "echo"
                [load]
                connections = 4
                duration = "300ms"
                warmup = "50ms"
                reconnect = "always"
                backoff = "1ms..20ms"
                [[contestant]]
                name = "ours"
                server = "epoll"
                [[contestant]]
                name = "resetting"
                command = "exec {sys.executable} {self.path('resetting.py')} {{port}}"
            """))
        done = run("race", scenario, "--rounds", 1, "--quick", "--json", result, *arguments)
        with open(result, encoding="utf-8") as file:
            return done, json.load(file)

    def test_a_server_that_resets_hangs_nobody(self):
        for turns in ("on", "off"):
            with self.subTest(turns=turns):
                done, race = self.race("--turns", turns)
                case = race["cases"][0]
                self.assertEqual(case["load"]["reconnect"], "always")
                entries = {entry["name"]: entry for entry in race["contestants"]}
                loads = {name: [trial["load"] for trial in entry["trials"]]
                         for name, entry in entries.items()}
                self.assertGreater(sum(load["reconnects"] for load in loads["resetting"]), 0)
                self.assertEqual(sum(load["reconnects"] for load in loads["ours"]), 0)
                for trial in entries["resetting"]["trials"]:
                    messages = trial["load"]["messages"]
                    if turns == "on":
                        self.assertEqual(sum(trial["turns"]["failed"]), messages["failed"])
                    self.assertEqual(messages["sent"],
                                     messages["verified"] + messages["failed"] + messages["in_flight"])
                words = " ".join(done.stdout.split())  # however the lines are broken
                self.assertIn("lost connections come back", words)
                self.assertIn("resetting is not ranked", words)

    # The rest of a turn does not wait for the connections of a server that has died.
    @long
    def test_a_server_that_is_killed_in_its_turns(self):
        killer = threading.Thread(target=self.kill_the_command)
        killer.start()
        done, race = self.race("--turns", "on", "-d", "2s")
        killer.join()
        self.assertTrue(self.killed, "the test came too late")
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.assertIn("resetting", done.stdout)
        self.assertEqual(len(race["cases"]), 1)

    def kill_the_command(self):
        self.killed = 0
        for _ in range(300):
            time.sleep(0.1)
            if any(self.commands()):
                break
        time.sleep(1)  # it is in its turns by then, on a slow machine in its warm-up
        for pid in self.commands():
            os.kill(pid, signal.SIGKILL)
            self.killed += 1

    def commands(self):
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    words = file.read().decode().split("\0")
                if self.path("resetting.py") in words and words[0] == sys.executable:
                    yield int(name)


if __name__ == "__main__":
    unittest.main()
