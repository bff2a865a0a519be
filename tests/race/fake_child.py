#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Speaks to a race as `joust serve` and `joust load` do, and fails as its engine's name says."""
import json
import os
import signal
import socket
import sys
import time

arguments = sys.argv[1:]


def value(flag, otherwise=""):
    return arguments[arguments.index(flag) + 1] if flag in arguments else otherwise


def say(**event):
    print(json.dumps(event), flush=True)


def usage():
    cpu = time.process_time()
    return {"cpu_user_s": cpu, "cpu_system_s": 0.0, "voluntary_switches": 5, "involuntary_switches": 1,
            "peak_memory_bytes": 1000000}


def serve(engine):
    if engine == "dies-at-start":
        print("first words\n\nlast words", file=sys.stderr)
        sys.exit(1)
    if engine == "refuses":
        print("joust: --root: no such directory", file=sys.stderr)
        sys.exit(2)
    if engine == "never-listens":
        time.sleep(60)
    listener = socket.create_server(("127.0.0.1", 0))
    stamps = iter((1000000000, 2000000000, 3000000000, 4000000000))

    def answer(*_):
        stamped = {"at_ns": next(stamps)} if engine == "stamps" else {}
        say(event="usage", usage=usage(), **stamped)
    signal.signal(signal.SIGUSR1, answer)
    stopped = {"connections": {"accepted": 1, "failed": 0}, "bytes": {"received": 320, "sent": 320},
               "errors": {}, "usage": usage(), "socket": {"nodelay": True}, "notes": ["a note"]}

    def stop(*_):
        if engine == "never-stops":
            return
        if engine.startswith("tidies-up/"):  # and leaves word of it
            open(engine[len("tidies-up"):], "w").close()
        say(event="stopped", **stopped)
        sys.exit(0)
    signal.signal(signal.SIGTERM, stop)
    if engine.startswith("tidies-up/"):
        open(engine[len("tidies-up"):] + ".begun", "w").close()
    say(event="listening", address="127.0.0.1:%d" % listener.getsockname()[1], engine=engine, protocol="echo",
        pid=os.getpid(), threads=1, wait="block", knobs={"trigger": "edge"}, socket={"nodelay": True},
        missing=["a feature"] if engine == "lacks" else [],
        build={"type": "Release", "sanitizers": "", "version": "0"})
    while True:
        connection = listener.accept()[0]
        if engine == "crashes" and connection.recv(1):
            print("about to crash", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)


def document(engine):
    return {"schema": "joust-load/1", "protocol": "echo", "address": "", "engine": engine, "threads": 1,
            "wait": "block", "knobs": {},
            "build": {"type": "Release", "sanitizers": "", "version": "0"}, "socket": {},
            "plan": {}, "interrupted": False, "reconnects": 0, "handovers": 0, "oldest_open_ns": 0,
            "connections": {"ok": 1, "failed": 0, "answered": 1, "never_answered": 0}, "window_ns": None,
            "messages": {"sent": 10, "verified": 10, "failed": 0, "in_flight": 0},
            "bytes": {"sent": 320, "received": 320, "total_sent": 320, "total_received": 320},
            "duration_s": 0.001 if engine == "other-window" else 0.05, "throughput_per_s": 500,
            "latency_ns": {"mean": 1, "min": 1, "p50": 1, "p90": 1, "p99": None, "p999": None, "max": 2,
                           "samples": 10},
            "histogram_ns": [[1, 9], [2, 1]], "slices": [],
            "cpu": {"user_s": 0.01, "system_s": 0.01, "over_s": 0.05}, "peak_memory_bytes": 1000,
            "switches": {"voluntary": 0, "involuntary": 0},
            "errors": {}, "messages_of_errors": [], "notes": ["a client's note"],
            "missing": ["a feature"] if engine == "lacks" else []}


def take_turns(engine):
    """Works for 5 ms after each SIGUSR1, ten messages, and ends after SIGTERM. The signals are blocked."""
    turns = 0
    while signal.sigwait({signal.SIGUSR1, signal.SIGTERM}) == signal.SIGUSR1:
        turns += 1
        began = time.monotonic_ns()
        time.sleep(0.005)
        ended = time.monotonic_ns()
        say(event="turn", turn=turns, began_ns=began, from_ns=began, last_ns=ended, ended_ns=ended,
            verified=10 * turns, beside=0, failed=0, latency_sum_ns=10 * turns)
    connections = json.loads(value("--plan", "{}")).get("connections", 1)
    result = document(engine)
    result["connections"] = {"ok": connections, "failed": 0, "answered": connections, "never_answered": 0}
    with open(value("--json"), "w") as file:
        json.dump(result, file)


def load(engine):
    if "--turns" in arguments:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM})
    if value("--connect"):
        host, port = value("--connect").rsplit(":", 1)
        connection = socket.create_connection((host, int(port)))
    if engine == "refuses":
        print("joust: --output is for one get", file=sys.stderr)
        sys.exit(2)
    if engine == "gives-up":
        print("cannot go on", file=sys.stderr)
        sys.exit(1)
    say(event="connected")
    if "--turns" in arguments:
        return take_turns(engine)
    if engine == "hangs":
        time.sleep(60)
    if value("--connect"):
        connection.sendall(b"x")
    time.sleep(0.05)
    say(event="measuring")
    time.sleep(0.05)
    say(event="measured")
    result = document(engine)
    if engine.startswith("window-"):  # "window-5-6": from the fifth to the sixth second
        begin, end = (int(second) * 1000000000 for second in engine.split("-")[1:])
        result.update(window_ns={"from": begin, "to": end}, duration_s=(end - begin) / 1e9)
    with open(value("--json"), "w") as file:
        file.write("{" if engine == "garbles" else json.dumps(result))
    say(event="done")
    sys.exit(1 if engine == "had-errors" else 0)


{"serve": serve, "load": load}[arguments[0]](value("-e"))
