#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What joust's engines cost beside the plain programs that they stand for, without any code of joust that
measures.

Each engine's server and its plain program echo messages of 32 bytes on one CPU, and bare_epoll_load loads
them from another, one after the other in random order, --rounds times. The CPU time of a server is read from
its CPU clock, and divided by the number of replies. Prints the ratio of an engine's cost to that of its
program: the median of the rounds, with an interval of about 95 %. An engine is "above" where its whole
interval is above what is wanted, and "within" where the whole is not. "joust us" is the program's median
times that ratio. "busy" is the share of its CPU that the busier of the two servers used: where it waits for
its client, a dearer server finds more messages at each wake-up, which brings the ratio closer to 1.
"""

import argparse
import random
import resource
import statistics
import subprocess
import sys

from by_hand import PROGRAMS, Server, pair_of_costs, ratio
from two_cpus import cpus

JOUST = PROGRAMS.parent / "joust"
CONNECTIONS = (50, 1000, 4000)
MILLISECONDS = 250
LEAST_ROUNDS = 6  # fewer have no interval of 95 %
BARE = ("{port}", cpus()[0])  # these pin themselves
# The engine, its plain program and that one's arguments, and the ratios wanted at so many connections.
MODELS = (
    ("epoll", "bare_epoll_echo", BARE, (1.05, 1.05, 1.06)),
    ("epoll:trigger=edge", "bare_edge_echo", ("{port}",), (1.05, 1.05, 1.06)),
    ("io-uring", "bare_uring_echo", BARE, (1.05, 1.05, 1.06)),
    ("coroutines", "bare_coroutines_echo", ("{port}",), (1.06, 1.06, 1.06)),
    ("poll", "bare_poll_echo", ("{port}",), (1.05, 1.05, 1.06)),
    ("select", "bare_select_echo", ("{port}",), (1.05, None, None)),  # 1,024 descriptors
    ("threads", "bare_threads_echo", ("{port}",), (1.05, 1.05, 1.06)),
    ("libevent", "plain_libevent_echo", ("{port}",), (1.05, 1.05, 1.06)),
    ("libev", "plain_libev_echo", ("{port}",), (1.05, 1.05, 1.06)),
    ("libuv", "plain_libuv_echo", ("{port}",), (1.05, 1.05, 1.06)),
    ("asio-pool", "plain_asio_echo", ("{port}", 1), (1.06, 1.06, 1.06)),
    ("asio-coroutines", "plain_asio_coroutines_echo", ("{port}",), (1.06, 1.06, 1.06)),
    ("qt", "plain_qt_echo", ("{port}",), (1.05, 1.05, 1.06)),
)


def engine_command(engine):
    threads = ["-t", 1] if engine.startswith("asio") else []
    return [JOUST, "serve", "-e", engine, "-p", "echo", "--listen", "127.0.0.1:{port}", *threads]


def races(only):
    """Models and numbers of connections to measure; says which cannot be."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for engine, program, arguments, wanted in MODELS:
        if only and engine not in only:
            continue
        if not (PROGRAMS / program).exists():
            print(f"{engine}: {program} is not built: its library is missing", flush=True)
            continue
        for connections, limit in zip(CONNECTIONS, wanted):
            if limit and connections > most - most // 8 - 100:  # what joust itself allows, and some
                print(f"{engine}: {most} open files are too few for {connections} connections", flush=True)
            elif limit:
                yield engine, [PROGRAMS / program, *arguments], connections, limit


def compare(engine, program, connections, rounds, seed):
    order = random.Random(seed)
    with Server(program) as plain, Server(engine_command(engine)) as joust:
        pairs = [pair_of_costs(plain, joust, order, connections=connections, milliseconds=MILLISECONDS)
                 for _ in range(rounds)]
    return pairs, ratio(pairs), max(plain.busy(), joust.busy())


def verdict(low, high, limit):
    return "above" if low > limit else "within" if high <= limit else "not decided"


def run(rounds, only=(), seed=1):
    """Prints the table. Returns whether no engine is above."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print("engine              connections  busy   plain us   joust us   ratio  interval         wanted")
    held = True
    for engine, program, connections, limit in races(only):
        pairs, (middle, low, high), busy = compare(engine, program, connections, rounds, seed)
        plain = statistics.median(plain for plain, _ in pairs)
        says = verdict(low, high, limit)
        held &= says != "above"
        print(f"{engine:<20}{connections:>11,}{busy:>6.0%}{plain:>11.2f}{plain * middle:>11.2f}{middle:>8.3f}"
              f"  {low:.3f} to {high:.3f}   {limit:.2f}  {says}", flush=True)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return held


def add_rounds(options):
    def rounds(text):
        if int(text) < LEAST_ROUNDS:
            raise argparse.ArgumentTypeError(f"at least {LEAST_ROUNDS}, or there is no interval")
        return int(text)
    options.add_argument("--rounds", type=rounds, default=40,
                         help="rounds of bare: loads of each server [40]")


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("engines", nargs="*", metavar="ENGINE", help="only these [all]")
    add_rounds(options)
    chosen = options.parse_args()
    if unknown := set(chosen.engines) - {model[0] for model in MODELS}:
        options.error(f"no plain program stands beside {', '.join(sorted(unknown))}")
    try:
        return 0 if run(chosen.rounds, chosen.engines) else 1
    except subprocess.SubprocessError as error:
        print(f"{error} {getattr(error, 'stderr', None) or ''}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
