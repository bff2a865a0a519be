#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loads joust's engines and nginx with wrk, in turn.

Each round runs wrk once against every server, in random order; the servers stay up all the time. They are on
one core, wrk is on another. Prints the replies per second of each server (the median over the rounds), the
server's CPU time for a reply, and the ratios of both to the first server, with the middle half of the rounds.
Errors of wrk end the program: a wrong reply would not be worth a number.

  benchmarks/by_wrk.py --rounds 10 nginx epoll io-uring
  benchmarks/by_wrk.py --pipeline 16 nginx epoll 'epoll --wait adaptive'
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time

from two_cpus import cpus, free_port

SOURCES = pathlib.Path(__file__).resolve().parent.parent
JOUST = SOURCES / "build/release/joust"
PIPELINE = """
init = function(args)
  local requests = {{}}
  for i = 1, {0} do requests[i] = wrk.format("GET", "/") end
  all = table.concat(requests)
end
request = function() return all end
"""


class Server:
    def __init__(self, name):
        self.name, self.rates, self.costs_us = name, [], []
        command = ["taskset", "-c", str(cpus()[0])]
        if name == "nginx":
            self.port = free_port()
            command += [SOURCES / "benchmarks/nginx.sh", str(self.port)]
        else:
            command += [JOUST, "serve", "-p", "http", "--listen", "127.0.0.1:0", "-e", *shlex.split(name)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        if name != "nginx":
            self.port = int(json.loads(self.process.stdout.readline())["address"].rsplit(":", 1)[1])

    def wait(self):
        deadline = time.monotonic() + 20
        while True:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{self.name} does not serve")
            try:
                return socket.create_connection(("127.0.0.1", self.port)).close()
            except ConnectionRefusedError:
                time.sleep(0.05)

    def stop(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(20)
        self.process.stdout.close()

    def cpu_s(self):
        """Of all threads of all processes of its group."""
        total_ns = 0
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if int((process / "stat").read_text().rsplit(")", 1)[1].split()[2]) == self.process.pid:
                    for task in process.glob("task/*/schedstat"):
                        total_ns += int(task.read_text().split()[0])
        return total_ns / 1e9

    def measure(self, options, script):
        command = ["taskset", "-c", str(cpus()[1]), "wrk", "-t", "1", "-c", str(options.connections), "-d",
                   f"{options.seconds}s", f"http://127.0.0.1:{self.port}/"]
        before = self.cpu_s()
        done = subprocess.run(command + (["-s", script] if script else []), check=True, capture_output=True,
                              text=True, timeout=options.seconds + 60)
        if "errors" in done.stdout or "Non-2xx" in done.stdout:
            raise SystemExit(f"{self.name}:\n{done.stdout}")
        replies = int(re.search(r"(\d+) requests in", done.stdout)[1])
        self.rates.append(float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)[1]))
        self.costs_us.append((self.cpu_s() - before) * 1e6 / replies)


def ratios(own, other):
    """The median and the quartiles of the rounds' ratios."""
    low, middle, high = statistics.quantiles([a / b for a, b in zip(own, other)], n=4)
    return f"{middle:7.3f} ({low:.3f} to {high:.3f})"


def report(servers):
    first = servers[0]
    print(f"{'server':22}{'replies/s':>10}  {'ratio':26}{'server CPU us':>14}  ratio")
    for server in servers:
        rate, cost_us = statistics.median(server.rates), statistics.median(server.costs_us)
        print(f"{server.name:22}{rate:10,.0f}  {ratios(server.rates, first.rates):26}{cost_us:14.2f}"
              f"  {ratios(server.costs_us, first.costs_us)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("servers", nargs="+",
                        help="nginx, or an engine with its options; the first is compared with")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=2, help="of one run of wrk")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--pipeline", type=int, default=1, help="requests that leave together")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not shutil.which("wrk"):
        raise SystemExit("wrk is not installed: apt-get install wrk")
    order = random.Random(options.seed)
    servers = [Server(name) for name in options.servers]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(PIPELINE.format(options.pipeline))
        script.flush()
        try:
            for server in servers:
                server.wait()
            for _ in range(options.rounds):
                for server in order.sample(servers, len(servers)):
                    server.measure(options, script.name if options.pipeline > 1 else None)
        finally:
            for server in servers:
                server.stop()
    report(servers)


if __name__ == "__main__":
    main()
