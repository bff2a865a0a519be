#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what a planted slowdown costs a bare server, without any code of joust.

Two bare_epoll_echo run. Both compute on each message for WORK_ROUNDS rounds of a loop, so that the server is
the limit: a server that waits for its client finds more messages at each wake-up when it is slower, and
saves what the slowdown costs. One of the two computes --more rounds. bare_epoll_load loads them in
turn for a second each, in random order. The CPU time of each server is read from its CPU clock before and
after, and divided by the number of replies. Prints the cost of a message in both, and their ratio with an
interval. script/prove compares that with the result of a race.
"""

import argparse
import math
import os
import pathlib
import random
import socket
import statistics
import subprocess
import time

from two_cpus import cpus, free_port

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = pathlib.Path(os.environ.get("JOUST_BUILD", ROOT / "build/release")) / "benchmarks"
CONNECTIONS, PAYLOAD = 64, 32
WORK_ROUNDS = 15_000  # 10 to 20 us: most of what a message costs, so that a share of it is one of the cost


class Server:
    """A server on the first CPU. `command`: its program and arguments, with {port} where the port stands."""

    def __init__(self, command):
        self.port = free_port()
        self.shares = []
        self.process = subprocess.Popen([str(word).format(port=self.port) for word in command],
                                        stdout=subprocess.DEVNULL,
                                        preexec_fn=lambda: os.sched_setaffinity(0, cpus()[:1]))

    def __enter__(self):
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def cost_us(self, connections=CONNECTIONS, milliseconds=1000):
        """The CPU time of a message, from one load."""
        load = subprocess.run([PROGRAMS / "bare_epoll_load", str(self.port), str(cpus()[1]), str(connections),
                               str(PAYLOAD), str(milliseconds), str(self.process.pid)],
                              check=True, capture_output=True, text=True, timeout=200)  # it ends by itself
        rate, cost_us = map(float, load.stdout.split())
        self.shares.append(rate * cost_us / 1e6)
        return cost_us

    def busy(self):
        """The share of its CPU that it used in the median load."""
        return statistics.median(self.shares)


def measure(more_rounds, seconds, work=WORK_ROUNDS, seed=1):
    """Pairs of costs in microseconds, one for each second: without the additional rounds and with them."""
    order = random.Random(seed)
    bare = [PROGRAMS / "bare_epoll_echo", "{port}", cpus()[0]]
    with Server([*bare, work]) as plain, Server([*bare, work + more_rounds]) as slower:
        return [pair_of_costs(plain, slower, order) for _ in range(seconds)]


def pair_of_costs(one, other, order, **load):
    """The cost of a message in both, loaded one after the other in random order, in microseconds."""
    costs = {server: server.cost_us(**load) for server in order.sample((one, other), 2)}
    return costs[one], costs[other]


def rounds_of(share, work, seconds=10):
    """How many more rounds cost so much of a message's cost, found with many more."""
    many = 2000 + work // 4
    pairs = measure(many, seconds, work)
    cost_us = statistics.median(plain for plain, _ in pairs)
    round_us = statistics.median(slower - plain for plain, slower in pairs) / many
    return round(share * cost_us / round_us)


def ratio(pairs):
    """The median ratio and its interval: order statistics, of about 95 %."""
    logarithms = sorted(math.log(slower / plain) for plain, slower in pairs)
    count = len(logarithms)
    left_out = max(0, math.floor(count / 2 - 0.98 * math.sqrt(count)))
    return tuple(map(math.exp, (statistics.median(logarithms), logarithms[left_out],
                                logarithms[count - 1 - left_out])))


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--more", type=int, default=500, metavar="ROUNDS",
                         help="additional rounds of one server for a message [500]")
    options.add_argument("--seconds", type=int, default=20, help="seconds of load for each server [20]")
    chosen = options.parse_args()
    pairs = measure(chosen.more, chosen.seconds)
    plain, slower = (statistics.median(costs) for costs in zip(*pairs))
    middle, low, high = ratio(pairs)
    print(f"{plain:.3f} us a message, {slower:.3f} us with {chosen.more} rounds more: "
          f"{middle:.4f} ({low:.4f} to {high:.4f}) after {chosen.seconds} s of each")


if __name__ == "__main__":
    main()
