# SPDX-License-Identifier: MIT
"""The protocol websocket: against servers and a client of others, and what it finds wrong."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

from foreign import ForeignServers, free_port, listens
from program import Server, run, whose_races_count

HERE = pathlib.Path(__file__).resolve().parent
PEER = HERE / "websocket_peer.py"
RUN = HERE.parents[1] / "examples" / "websocket" / "run"
HANDSHAKE = (b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")


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

    def loads_room(self, port):
        """Loads a room in several ways: every member gets every message, in order."""
        result = self.path("r.json")
        for members, messages, *options in ((1, 50), (8, 50, "--depth", 4), (4, 10, "--payload", "64KiB"),
                                            (5, 10, "--payload", 112)):
            done = run("load", "-p", "broadcast", f"ws://127.0.0.1:{port}/room", "-c", members,
                       "-m", messages, "--json", result, *options)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            found = json.loads(pathlib.Path(result).read_text(encoding="utf-8"))
            self.assertEqual(found["messages"]["verified"], members * messages)
            self.assertEqual(found["deliveries"]["received"], members * members * messages)
            self.assertEqual(found["deliveries"]["lost"], 0)

    def test_rooms(self):
        for words in (("epoll",), ("threads", "--flush", "each"), ("io-uring",)):
            with Server("-e", *words, "-p", "broadcast", "--framing", "websocket") as server:
                self.loads_room(server.address.rsplit(":", 1)[1])
                self.assertEqual(server.stop()["connections"]["failed"], 0)

    def test_servers_of_the_scenario(self):
        """Here nothing is compiled: those in C++ take part where they are built already."""
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        found = []
        for name in ("ws", "websockets", "beast", "uwebsockets"):
            is_built = (cache / "joust/websocket" / name / "stamp").is_file()
            if name in ("beast", "uwebsockets") and not is_built:
                continue
            for service, check in (("echo", self.loads), ("room", self.loads_room)):
                port = free_port()
                process = self.start_page(name, service, port)
                if process is None:
                    break
                with self.subTest(name=name, service=service):
                    found.append(name)
                    check(port)
                    process.terminate()
                    process.wait(timeout=30)
        if not found:
            self.skipTest("none is installed: script/setup servers")

    def start_page(self, name, service, port):
        """The process of a page, or None if this machine lacks what it needs."""
        process = subprocess.Popen([RUN, name, service, str(port)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        self.addCleanup(self.end, process)
        deadline = time.monotonic() + 60
        while not listens(port):
            if process.poll() == 127:
                return None
            self.assertIsNone(process.poll(), f"{name} ended")
            self.assertLess(time.monotonic(), deadline, f"{name} does not listen")
            time.sleep(0.02)
        return process

    def test_what_a_page_lacks_is_named(self):
        tools = pathlib.Path(self.path("tools"))
        tools.mkdir()
        for tool in ("sh", "dirname"):
            (tools / tool).symlink_to(shutil.which(tool))
        nowhere = os.environ | {"PATH": str(tools), "XDG_CACHE_HOME": self.directory}
        for name, code, words in (("ws", 127, "node is not installed"), ("cobol", 2, "no server 'cobol'"),
                                  ("beast", 127, "c++ is not installed")):
            with self.subTest(name):
                done = subprocess.run([RUN, name, "echo", "9"], env=nowhere, capture_output=True, text=True,
                                      timeout=60, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)
        done = subprocess.run([RUN, "--build", "ws"], env=nowhere, capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "ws: node is not installed\n"))

    @whose_races_count
    def test_rooms_race(self):
        done = run("race", "--server", "epoll,threads:flush=each", "-p", "broadcast",
                   "--framing", "websocket", "-c", 4, "--rounds", 2, "-d", "100ms", "-w", "20ms")
        self.assertIn(done.returncode, (0, 3), done.stdout + done.stderr)

    def test_a_server_that_stops_says_goodbye(self):
        for protocol in (("websocket",), ("broadcast", "--framing", "websocket")):
            with Server("-p", *protocol) as server:
                host, port = server.address.rsplit(":", 1)
                with socket.create_connection((host, int(port)), timeout=60) as client:
                    client.sendall(HANDSHAKE)
                    came = b""
                    while not came.endswith(b"\r\n\r\n"):
                        came += client.recv(1)
                    server.stop()
                    came = b""
                    while piece := client.recv(1000):
                        came += piece
                self.assertEqual(came, b"\x88\x12\x03\xe9the server stops")

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
        room = ("-p", "broadcast", "--framing", "websocket")
        for engine in ("udp-batched", "udp-multicast"):
            self.refused(run("serve", "-e", engine, *room), "WebSocket is a protocol of a stream")
        self.refused(run("load", "-e", "null", *room, "-m", 1, "--path", "room"), "--path 'room'")
        self.refused(run("load", "-p", "resp", "ws://127.0.0.1:9/", "-m", 1), "leave -p")
