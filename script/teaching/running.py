# SPDX-License-Identifier: MIT
"""A server and a load of joust, for a trace or for samples."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess

PATIENCE_S = 60


def loading_engine(engine):
    """The engine of a load that speaks with a server of this engine."""
    return engine if engine.startswith("udp") else "zeromq" if engine.startswith("zeromq") else "epoll"


@contextlib.contextmanager
def server(joust, engine, before=(), more=()):
    """The address and the process id of a server of echo, which ends with the block."""
    command = [*before, joust, "serve", "-e", engine, "-p", "echo", "--listen", "127.0.0.1:0", *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield json.loads(process.stdout.readline())["address"], process.pid
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE_S)
        process.stdout.close()


def family(process):
    """The process and all that it has started, and they have."""
    parents = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found = [process]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def load(joust, engine, address, *settings):
    command = [joust, "load", "-e", loading_engine(engine), "-p", "echo", "--connect", address, *settings]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE_S)
