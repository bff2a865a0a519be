# SPDX-License-Identifier: MIT
"""Network namespaces as hosts, made by script/hosts, and what runs on them."""

import contextlib
import os
import shlex
import shutil
import subprocess
import time

from program import BUILD, PATIENCE_S, TESTS, Case

SCRIPT = os.path.join(os.path.dirname(TESTS), "script", "hosts")
RELAY = os.path.join(BUILD, "joust-relay")
NAMES = f"t{os.getpid() % 100_000}-"  # of this test alone: others may run
IMPOSSIBLE = 77


def host(number):
    return f"{NAMES}{number}"


def why_no_hosts(*options):
    done = subprocess.run(
        [SCRIPT, "2", "--names", NAMES, *options, "--", "true"],
        capture_output=True, text=True, timeout=60, check=False,
    )
    return done.stderr.strip() if done.returncode == IMPOSSIBLE else None


def why_no_mpi():
    if shutil.which("mpirun") is None:
        return "mpirun is not installed (script/setup hosts)"
    return None if os.path.exists(RELAY) else "joust was built without Open MPI"


NO_HOSTS = why_no_hosts()
NO_MPI = NO_HOSTS or why_no_mpi()


def processes(number):
    """The processes on a host: process id and words."""
    found = subprocess.run(
        ["ip", "netns", "pids", host(number)], capture_output=True, text=True, check=False
    ).stdout.split()
    for pid in found:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", encoding="utf-8") as words:
            yield int(pid), words.read().split("\0")


def is_called(*names):
    """Of a process whose first words are these."""
    return lambda words: (os.path.basename(words[0]), *words[1:len(names)]) == names


def parent(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


def of_joust(number):
    names = ("joust", "joust-relay", "orted", "mpirun")
    return [(pid, words) for pid, words in processes(number) if os.path.basename(words[0]) in names]


class OnNamespaces(Case):
    def on_hosts(self, count, *command):
        return [SCRIPT, str(count), "--names", NAMES, "--", *map(str, command)]

    @contextlib.contextmanager
    def kept(self, count, command):
        """The command on hosts that stay when it has ended. It has a process group of its own, as a terminal
        gives it, and prints its exit code."""
        words = shlex.join(map(str, command))
        with subprocess.Popen(
            self.on_hosts(count, "sh", "-c", f"setsid -w {words}; echo ended: $?; exec sleep 1000"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            try:
                yield process
            finally:
                process.terminate()

    def until(self, words, stream):
        text = ""
        for line in stream:
            text += line
            if words in line:
                return text
        raise AssertionError(f"no {words}: {text}")

    def starter(self):
        """The program that has started mpirun."""
        return parent(self.one(1, is_called("mpirun")))

    def nothing_is_left(self, count):
        numbers = range(1, count + 1)
        self.awaited("all to end", lambda: not any(of_joust(number) for number in numbers))

    def awaited(self, what, condition):
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if found := condition():
                return found
            time.sleep(0.02)
        raise AssertionError(f"not within {PATIENCE_S} s: {what}")

    def one(self, number, predicate):
        """The process on the host, as soon as there is one."""
        return self.awaited(
            f"a process on {host(number)}",
            lambda: next((pid for pid, words in processes(number) if predicate(words)), None),
        )
