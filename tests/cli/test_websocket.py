# SPDX-License-Identifier: MIT
"""The protocol websocket: against servers and a client of others, and what it finds wrong."""

import json
import os
import pathlib
import subprocess
import sys

from foreign import ForeignServers, free_port
from program import Server, run, whose_races_count

HERE = pathlib.Path(__file__).resolve().parent
PEER = HERE / "websocket_peer.py"


class WebSocket(ForeignServers):
    def python(self):
        """An interpreter that has the package websockets."""
        for each in dict.fromkeys((sys.executable, "/usr/bin/python3")):
            if os.path.exists(each) and subprocess.run([each, "-c", "import websockets"], check=False,
                                                       capture_output=True, timeout=60).returncode == 0:
                return each
        return self.skipTest("python3-websockets is not installed: script/setup servers")

    def node(self):
        """Node, and an environment in which it finds the package ws."""
        node, environment = self.needs("node"), os.environ | {"NODE_PATH": "/usr/share/nodejs"}
        if subprocess.run([node, "-e", "require('ws')"], check=False, capture_output=True, timeout=60,
                          env=environment).returncode != 0:
            self.skipTest("node-ws is not installed: script/setup servers")
        return node, environment

    def loads(self, port):
        """Loads a server in several ways: every reply is right."""
        result = self.path("r.json")
        for options in (("-m", 200), ("-m", 100, "--frame", "text", "--fragment", 5, "--depth", 8),
                        ("-m", 20, "--payload", "100KiB", "--fragment", "9KiB"),
                        ("-m", 20, "-R", 50)):  # lasts longer than a server waits for its first ping
            done = run("load", f"ws://127.0.0.1:{port}/", "-c", 5, "--json", result, *options)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            messages = json.loads(pathlib.Path(result).read_text(encoding="utf-8"))["messages"]
            self.assertEqual(messages["verified"], 5 * options[1])

    def test_a_server_in_python_is_verified(self):
        port = free_port()
        self.start(self.python(), PEER, "serve", port, port=port)
        self.loads(port)

    def test_a_server_on_node_is_verified(self):
        node, environment = self.node()
        port = free_port()
        self.start(node, HERE / "websocket_server.js", port, port=port, environment=environment)
        self.loads(port)

    def test_a_client_of_others_is_served(self):
        python = self.python()
        for engine in ("epoll", "io-uring"):
            with Server("-e", engine, "-p", "websocket") as server:
                done = subprocess.run([python, PEER, "check", f"ws://{server.address}/"], capture_output=True,
                                      text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                stopped = server.stop()
                self.assertEqual(stopped["connections"]["failed"], 1)
                self.assertEqual(stopped["messages_of_errors"], ["verify: a message has more than 1 MiB"])

    def test_another_server_is_named_so(self):
        with Server("-p", "http") as server:
            done = run("load", "-p", "websocket", "--connect", server.address, "-m", 1)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("answers the handshake by the status 200 OK, and not by 101",
                          done.stdout + done.stderr)
        with Server("-p", "websocket") as server:
            done = run("load", f"http://{server.address}/", "-m", 1)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("426", done.stdout + done.stderr)

    def test_messages_are_shown(self):
        with Server("-p", "websocket") as server:
            done = run("load", f"ws://{server.address}/chat?room=1", "--frame", "text", "--try", 1)
            self.assertEqual(done.returncode, 0, done.stderr)
            for words in ("GET /chat?room=1", "the load begins", "sent last", "The reply is right"):
                self.assertIn(words, done.stdout)

    def test_a_race_beside_a_server_of_others(self):
        python = self.python()
        done = run("race", "--command", f"python=exec {python} {PEER} serve {{port}}", "--server", "epoll",
                   "-p", "websocket", "-c", 4, "--rounds", 2, "-d", "100ms", "-w", "20ms")
        self.assertIn(done.returncode, (0, 3), done.stdout + done.stderr)
        self.assertIn("verified byte for byte", done.stdout)

    @whose_races_count
    def test_engines_race(self):
        done = run("race", "--server", "epoll,threads", "-p", "websocket", "-c", 4, "--rounds", 2, "-d",
                   "100ms", "-w", "20ms")
        self.assertIn(done.returncode, (0, 3), done.stdout + done.stderr)

    def test_options_that_do_not_fit(self):
        load = ("load", "-e", "null", "-p", "websocket", "-m", 1)
        self.refused(run(*load, "--path", "chat"), "--path 'chat': say a path such as /chat")
        self.refused(run(*load, "--host", "a b"), "--host: 'a b'")
        self.refused(run(*load, "--frame", "json"), "--frame")
        self.refused(run(*load, "--fragment", 1, "--payload", "1MiB"), "say at least 105")
        self.refused(run("serve", "-e", "udp-batched", "-p", "websocket"), "a protocol of a stream")
