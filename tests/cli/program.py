# SPDX-License-Identifier: MIT
"""Runs the built programs as a user would, with a bound on everything."""

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = os.environ["JOUST_BUILD"]
JOUST = os.environ.get("JOUST_PROGRAM") or os.path.join(BUILD, "joust")  # another: tests/planted
CALCULATOR = os.path.join(BUILD, "examples", "calculator", "calculator")
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEMA = os.path.join(os.path.dirname(TESTS), "docs", "result.schema.json")
PATIENCE_S = 120

# The races of tests are in a history of their own.
_state = tempfile.TemporaryDirectory(prefix="joust-state-")
atexit.register(_state.cleanup)
os.environ["XDG_STATE_HOME"] = _state.name

# What takes long and guards against rare faults: mostly races, which keep all CPUs busy meanwhile.
long = unittest.skipUnless(
    os.environ.get("JOUST_LONG_RACES") == "1" and not os.environ.get("JOUST_SANITIZE"),
    "takes long: script/test --long",
)

whose_races_count = unittest.skipIf(
    os.environ.get("JOUST_SANITIZE"), "each race of a sanitized build is invalid"
)


def run(*arguments, program=JOUST):
    """The finished process: returncode, stdout, stderr."""
    program = [program] if isinstance(program, str) else program
    return subprocess.run(
        [*program, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def wait_until_caught(process, number):
    """Waits until a program has a handler for a signal: until then the signal would kill it."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            caught = next(line for line in status if line.startswith("SigCgt:"))
        if int(caught.split()[1], 16) >> (number - 1) & 1:
            return
        time.sleep(0.01)
    raise AssertionError(f"no handler for signal {number}")


def with_few_processes(number):
    """The command that runs joust as a user who may have so many processes and threads, and has no others."""
    return as_another_user(f"--nproc={number}")


def as_another_user(limit):
    """The command that runs joust with this option of prlimit, as a user without privileges or processes."""
    user = str(60_000 + os.getpid() % 5_000)  # of this test alone: the limit counts all processes of a user
    command = ["env", "ASAN_OPTIONS=detect_leaks=0"]  # which takes a process
    command += ["prlimit", limit, "setpriv", f"--reuid={user}", "--clear-groups", JOUST]
    with contextlib.suppress(FileNotFoundError):
        if subprocess.run([*command, "--version"], capture_output=True, check=False).returncode == 0:
            return command
    raise unittest.SkipTest("needs root, prlimit, setpriv, and a program that all users may run")


class Server:
    """A `serve` process: ready when entered, told to stop and waited for when left."""

    def __init__(self, *arguments, program=JOUST):
        program = [program] if isinstance(program, str) else program
        self.command = [*program, "serve", *map(str, arguments)]
        self.stopped = None

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.listening = self.event()
        self.address = self.listening["address"]
        return self

    def event(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("no event; the server said: " + self.process.stderr.read())
        return json.loads(line)

    def tell(self, number):
        self.process.send_signal(number)

    def stop(self):
        self.tell(signal.SIGTERM)
        self.stopped = self.event()
        self.process.wait(PATIENCE_S)
        return self.stopped

    def __exit__(self, kind, error, trace):
        if self.process.poll() is None:
            self.tell(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="joust-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def path(self, name):
        return os.path.join(self.directory, name)

    def load(self, *arguments, program=JOUST):
        """Runs `load` and returns the process and its JSON document."""
        file = self.path("load.json")
        done = run("load", "--json", file, *arguments, program=program)
        with open(file, encoding="utf-8") as text:
            return done, json.load(text)

    def valid(self, file, schema=SCHEMA):
        """A result that is as its schema says."""
        validate = [sys.executable, "-B", os.path.join(TESTS, "validate_result.py"), schema, file]
        done = subprocess.run(validate, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def refused(self, done, *words):
        """A usage error: exit code 2, nothing on stdout, and all of `words` on stderr."""
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)
