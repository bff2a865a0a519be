# SPDX-License-Identifier: MIT
"""Servers of others, which tests start and load."""

import os
import shutil
import signal
import socket
import subprocess
import time

from program import Case


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class ForeignServers(Case):
    def start(self, *command, port, environment=None):
        """A program that is ended with the test, once it listens. It gets no signal of the terminal."""
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd=self.directory,
                                   env=environment, start_new_session=True)
        self.addCleanup(self.end, process)
        deadline = time.monotonic() + 30
        while port and not listens(port):
            self.assertIsNone(process.poll(), f"{command[0]} ended")
            self.assertLess(time.monotonic(), deadline, f"{command[0]} does not listen")
            time.sleep(0.02)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=30)

    def needs(self, *programs):
        for program in programs:
            found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
            if found is None:
                self.skipTest(f"{program} is not installed: script/setup servers")
        return found
