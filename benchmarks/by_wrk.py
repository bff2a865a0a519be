#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loads joust's engines and nginx with wrk, in turn.

Each round runs wrk once against every server, in random order; the servers stay up all the time. They are on
one core, wrk is on another. Prints the replies per second of each server (the median over the rounds), the
server's CPU time for a reply, and the ratio to the first server with the range of its rounds. Errors of wrk
end the program: a wrong reply would not be worth a number.

  benchmarks/by_wrk.py --rounds 10 nginx epoll io-uring
  benchmarks/by_wrk.py --pipeline 16 nginx epoll
"""

import argparse
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time

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


def cpus():
    """Of the server and of wrk."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[min(1, len(allowed) - 1)]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, name):
        self.name, self.port, self.rates, self.costs_us = name, free_port(), [], []
        command = ["taskset", "-c", str(cpus()[0])]
        if name == "nginx":
            command += [SOURCES / "scenarios/peers/nginx.sh", str(self.port)]
        else:
            command += [JOUST, "serve", "-e", name, "-p", "http", "--listen", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)

    def wait(self):
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def stop(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(20)

    def cpu_s(self):
        """Of all processes of its group."""
        total = 0
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[2]) == self.process.pid:
                total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")

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


def report(servers):
    first = servers[0]
    print(f"{'server':24}{'replies/s':>12}{'server CPU us':>15}{'ratio':>8}  range of the rounds")
    for server in servers:
        ratios = sorted(own / other for own, other in zip(server.rates, first.rates))
        rate, cost_us = statistics.median(server.rates), statistics.median(server.costs_us)
        print(f"{server.name:24}{rate:12,.0f}{cost_us:15.2f}{statistics.median(ratios):8.3f}"
              f"  {ratios[0]:.3f} to {ratios[-1]:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("servers", nargs="+", help="nginx, or an engine; the first one is compared with")
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
