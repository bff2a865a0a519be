# SPDX-License-Identifier: MIT
"""Where a benchmark's server and load run, and where they meet."""

import os
import socket


def cpus():
    """Of the server and of the load."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[min(1, len(allowed) - 1)]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
