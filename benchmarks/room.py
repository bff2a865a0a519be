#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What joust's load and joust's servers of a room cost beside bare ones, without any code of joust that
measures.

Members send messages of 32 bytes to all members, each the next when its own has come back. `joust load -p
broadcast` is compared with bare_room_load, both on bare_room, and `joust serve` with bare_room, both under
bare_room_load. All run one after the other, in random order, --rounds times. The CPU time is that of the
whole process, connecting included, and is divided by the deliveries: the messages that members have received.
Prints the ratio of joust's deliveries for a second, and of its CPU time for a delivery, to the bare one's,
as the median of the rounds with an interval of about 95 %. Round trips are medians.
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time

from against_plain import JOUST, add_rounds
from by_hand import PROGRAMS, Server, ratio
from two_cpus import cpus

PAYLOAD = 32


def cpu_seconds(process):
    with open(f"/proc/{process}/stat") as stat:
        times = stat.read().rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def output_of(command, seconds):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True,
                          timeout=60 + 10 * seconds).stdout


def bare_load(port, members, seconds):
    load = [PROGRAMS / "bare_room_load", port, cpus()[1], members, PAYLOAD, round(1000 * seconds)]
    received, round_trip_us = map(float, output_of(load, seconds).split())
    return received, round_trip_us / 1000


def joust_load(port, members, seconds):
    load = [JOUST, "load", "-e", "epoll", "-p", "broadcast", "--connect", f"127.0.0.1:{port}", "-c", members,
            "-w", 0, "-d", f"{seconds}s", "--cpus", cpus()[1], "--json", "-"]
    result = json.loads(output_of(load, seconds))
    return result["deliveries"]["received"], (result["latency_ns"]["p50"] or 0) / 1e6


def joust_server(engine):
    threads = ["-t", 1] if engine.startswith("asio") else []
    return [JOUST, "serve", "-e", engine, "-p", "broadcast", "--listen", "127.0.0.1:{port}",
            "--cpus", cpus()[0], *threads]


def trial(server, load, members, seconds):
    """Deliveries for a second, CPU ns of the server and of the load for a delivery, and the round trip."""
    with Server(server) as running:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.monotonic()
        received, round_trip_ms = load(running.port, members, seconds)
        took = time.monotonic() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        load_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        server_s = cpu_seconds(running.process.pid)
    return received / took, 1e9 * server_s / received, 1e9 * load_s / received, round_trip_ms


def line(name, bare, joust, cost):
    """Prints one comparison. `cost`: the place of the CPU time that counts."""
    def compared(place):
        middle, low, high = ratio([(one[place], other[place]) for one, other in zip(bare, joust)])
        return f"{middle:>7.3f} ({low:.3f} to {high:.3f})"

    rate, cpu, round_trip, joust_round_trip = (statistics.median(trials) for trials in (
        [t[0] / 1e6 for t in bare], [t[cost] for t in bare], [t[3] for t in bare], [t[3] for t in joust]))
    print(f"{name:<12}{rate:>10.1f}M {compared(0)}{cpu:>10.1f} {compared(cost)}"
          f"{round_trip:>9.1f}{joust_round_trip:>8.1f}", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("engines", nargs="*", metavar="ENGINE", default=["epoll"],
                         help="of the server [epoll]")
    options.add_argument("--members", type=int, default=1000, help="[1000]")
    options.add_argument("--seconds", type=float, default=2, help="of each load [2]")
    add_rounds(options)
    chosen = options.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    bare = [PROGRAMS / "bare_room", "{port}", cpus()[0]]
    sides = {"bare": (bare, bare_load), "load": (bare, joust_load)}
    sides |= {engine: (joust_server(engine), bare_load) for engine in chosen.engines}
    trials = {name: [] for name in sides}
    order = random.Random(1)
    for _ in range(chosen.rounds):
        for name in order.sample(list(sides), len(sides)):
            trials[name].append(trial(*sides[name], chosen.members, chosen.seconds))
    print("            deliveries/s, ratio                    CPU ns, ratio                  p50 ms, joust's")
    for name in list(sides)[1:]:
        line(name, trials["bare"], trials[name], 2 if name == "load" else 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
