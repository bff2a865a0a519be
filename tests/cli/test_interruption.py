# SPDX-License-Identifier: MIT
"""joust load when it is interrupted, or kept off its CPU."""

import json
import resource
import signal
import socket
import subprocess
import time
import unittest

from program import JOUST, Case, Server, long


class Interruption(Case):
    @long
    def test_replies_that_came_during_a_pause_are_read_before_timeouts_are_judged(self):
        connections, patience_s = 1200, 4  # more sockets than a loop takes in at once
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        for engine in ("threads", "poll", "epoll", "io-uring"):
            with self.subTest(engine), socket.create_server(("127.0.0.1", 0), backlog=connections) as server:
                address = f"127.0.0.1:{server.getsockname()[1]}"
                plan = ["-c", str(connections), "-m", "1", "--request-timeout", f"{patience_s}s"]
                load = subprocess.Popen(
                    [JOUST, "load", "-e", engine, "--connect", address, *plan],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                peers = [server.accept()[0] for _ in range(connections)]
                requests = [peer.recv(32, socket.MSG_WAITALL) for peer in peers]
                load.send_signal(signal.SIGSTOP)
                for peer, request in zip(peers, requests):
                    peer.sendall(request)
                time.sleep(patience_s + 0.5)
                load.send_signal(signal.SIGCONT)
                text, complaints = load.communicate(timeout=60)
                for peer in peers:
                    peer.close()
                self.assertEqual(load.returncode, 0, complaints)
                self.assertIn(f" {connections} verified", text)

    def test_a_load_that_stood_still_does_not_blame_the_server(self):
        with Server("-p", "echo") as server:
            load = subprocess.Popen(
                [JOUST, "load", "--connect", server.address, "-c", "4", "-d", "4s"],
                stdout=subprocess.PIPE,
                text=True,
            )
            time.sleep(1)
            load.send_signal(signal.SIGSTOP)
            time.sleep(1.5)
            load.send_signal(signal.SIGCONT)
            text = load.communicate(timeout=60)[0]
        self.assertRegex(text, r"note +this load was stopped and continued")

    def test_an_interrupted_load_keeps_what_it_has(self):
        file = self.path("partial.json")
        with Server("-p", "echo") as server:
            load = subprocess.Popen(
                [JOUST, "load", "--connect", server.address, "-c", "4", "-d", "60s"]
                + ["--json", file, "--events"],
                stdout=subprocess.PIPE,
                text=True,
            )
            while "measuring" not in load.stdout.readline():
                pass
            time.sleep(0.2)  # some messages
            load.send_signal(signal.SIGINT)
            load.communicate(timeout=60)
        self.assertEqual(load.returncode, 1)
        with open(file, encoding="utf-8") as text:
            document = text.read()
        self.assertIn('"interrupted": true', document)
        self.assertNotIn('"verified": 0', document)

    def test_an_interrupted_load_in_one_process_has_not_failed(self):
        file = self.path("partial.json")
        for protocol in ("echo", "broadcast"):
            command = [JOUST, "load", "-e", "null", "-p", protocol, "-c", "3", "--depth", "4", "-d", "60s"]
            load = subprocess.Popen([*command, "--json", file, "--events"], stdout=subprocess.PIPE, text=True)
            while "measuring" not in load.stdout.readline():
                pass
            load.send_signal(signal.SIGINT)
            load.communicate(timeout=60)
            with open(file, encoding="utf-8") as text:
                result = json.load(text)
            self.assertTrue(result["interrupted"])
            self.assertEqual(result["connections"]["ok"], 3)
            self.assertEqual(result["messages"]["failed"], 0)

    def test_the_window_of_an_interrupted_load_ends_with_the_interrupt(self):
        file = self.path("partial.json")
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"127.0.0.1:{server.getsockname()[1]}"
            load = subprocess.Popen(
                [JOUST, "load", "--connect", address, "-c", "1", "-d", "60s", "--json", file, "--events"],
                stdout=subprocess.PIPE,
                text=True,
            )
            peer, _ = server.accept()
            while "measuring" not in load.stdout.readline():
                pass
            peer.sendall(peer.recv(32, socket.MSG_WAITALL))
            peer.recv(32, socket.MSG_WAITALL)  # the load waits for this reply, and two seconds after the stop
            load.send_signal(signal.SIGINT)
            stopped = time.monotonic()
            load.communicate(timeout=60)
            waited = time.monotonic() - stopped
            peer.close()
        with open(file, encoding="utf-8") as text:
            document = json.load(text)
        self.assertEqual(document["messages"]["verified"], 1)
        self.assertGreater(waited, document["duration_s"])


if __name__ == "__main__":
    unittest.main()
