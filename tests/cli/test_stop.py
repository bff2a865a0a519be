# SPDX-License-Identifier: MIT
"""A stop while peers wait to be accepted."""

import json
import resource
import signal
import socket
import subprocess
import time
import unittest

from program import JOUST, PATIENCE_S, Case, Server, run

PEERS = 300


def serving_engines():
    engines = json.loads(run("engines", "--json").stdout)
    return [
        engine["name"]
        for engine in engines
        if "serve" in engine["roles"] and engine["available"] and engine["delivery"] == "stream"
    ]


def hold(server):
    """Stops the process, so that peers stay in the accept queue, and returns when it has stopped."""
    server.tell(signal.SIGSTOP)
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] == "T":
                return
        time.sleep(0.001)
    raise AssertionError("the server does not stop")


def answer(peer):
    """What the server says until the end of the stream, or the name of the error instead."""
    said = b""
    try:
        while more := peer.recv(100):
            said += more
    except OSError as error:
        return type(error).__name__
    return said.decode()


class QueuedPeers(Case):
    def answered(self, engine, listen):
        """What each of the peers hears who has connected and sent a line before the stop."""
        options = ("-e", engine, "-p", "uppercase", "--listen", listen, "--drain", f"{PATIENCE_S}s")
        with Server(*options) as server:
            hold(server)
            unix = listen.startswith("unix:")
            kind = socket.AF_UNIX if unix else socket.AF_INET
            to = listen[5:] if unix else ("127.0.0.1", int(server.address.rsplit(":", 1)[1]))
            peers = []
            for number in range(PEERS):
                peers.append(socket.socket(kind))
                peers[-1].settimeout(PATIENCE_S)
                peers[-1].connect(to)
                peers[-1].sendall(b"peer %d\n" % number)
            server.tell(signal.SIGTERM)
            server.tell(signal.SIGCONT)
            answers = []
            for peer in peers:
                answers.append(answer(peer))
                peer.close()
            self.assertEqual(server.event()["connections"], {"accepted": PEERS, "failed": 0})
            return answers

    def test_whoever_waits_when_the_stop_comes_is_answered(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        with open("/proc/sys/net/core/somaxconn", encoding="ascii") as longest:
            if int(longest.read()) < PEERS:
                self.skipTest("the accept queue is too short here")
        expected = [f"PEER {number}\n" for number in range(PEERS)]
        for engine in serving_engines():
            for listen in ("127.0.0.1:0", "unix:" + self.path("socket")):
                with self.subTest(engine=engine, listen=listen.split(":")[0]):
                    self.assertEqual(self.answered(engine, listen), expected)


class SecondStop(Case):
    def test_the_last_of_many_signals_does_not_take_the_exit_code(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            for _ in range(20):
                with Server("-p", "echo") as server:
                    server.tell(number)
                    self.assertEqual(server.event()["event"], "stopped")
                    give_up = time.monotonic() + PATIENCE_S
                    while server.process.poll() is None and time.monotonic() < give_up:
                        server.tell(number)
                    self.assertEqual(server.process.returncode, 0)

    def test_nor_that_of_an_interrupted_load(self):
        with Server("-p", "echo") as server:
            for _ in range(10):
                command = [JOUST, "load", "--connect", server.address, "-d", "60s", "--events"]
                command += ["--json", self.path("load.json")]
                with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as load:
                    events = [json.loads(load.stdout.readline())["event"] for _ in range(2)]
                    self.assertEqual(events, ["connected", "measuring"])
                    load.send_signal(signal.SIGINT)
                    while load.poll() is None:
                        load.send_signal(signal.SIGINT)
                    self.assertTrue(load.stdout.read().endswith('{"event":"done"}\n'))
                    self.assertEqual(load.returncode, 1)


if __name__ == "__main__":
    unittest.main()
