# SPDX-License-Identifier: MIT
"""A program whose standard output and standard error are a terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import termios

from program import JOUST, PATIENCE_S


class OnTerminal:
    """Started when made; read() waits for its end. `kind` is TERM; None: there is none."""

    def __init__(self, *arguments, kind="xterm", columns=100, stdout=None, **environment):
        self.terminal, side = pty.openpty()
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        inherited = {name: value for name, value in os.environ.items() if name not in ("TERM", "NO_COLOR")}
        kinds = {"TERM": kind} if kind else {}
        self.process = subprocess.Popen(
            [JOUST, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=side if stdout is None else stdout,
            stderr=side,
            env=inherited | kinds | environment,
        )
        os.close(side)

    def line(self):
        """The next line, without its end; fails at the end of the output."""
        text = b""
        while not text.endswith(b"\n"):
            text += os.read(self.terminal, 1)
        return text.decode().rstrip("\r\n")

    def read(self):
        """All that the terminal still gets."""
        text = b""
        try:
            while part := os.read(self.terminal, 65536):
                text += part
        except OSError:  # what a terminal says at its end
            pass
        os.close(self.terminal)
        self.process.wait(PATIENCE_S)
        return text.decode().replace("\r\n", "\n")


def on_terminal(*arguments, **more):
    """What such a program prints, and its exit code."""
    started = OnTerminal(*arguments, **more)
    text = started.read()
    return text, started.process.returncode
