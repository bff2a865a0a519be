# SPDX-License-Identifier: MIT
"""The protocol script: worked examples against the servers that they are for, its own server, and races."""

import json
import os
import pathlib
import shutil
import signal
import socket
import socketserver
import subprocess
import tempfile
import threading
import time
import unittest

from foreign import ForeignServers, free_port, listens
from program import JOUST, Server, run, whose_races_count

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "script"
PING = ("--send", "PING {message}\\r\\n", "--expect", "exact:PONG {1}\\r\\n")


class Chat(socketserver.StreamRequestHandler):
    """The server of chat.toml, for one room of one."""

    def handle(self):
        name = self.rfile.readline().decode().split()[1]
        self.wfile.write(f"* welcome\n* you are {name}\n".encode())
        for line in self.rfile:
            word, _, text = line.decode().partition(" ")
            if word != "SAY":
                return
            self.wfile.write(f"<{name}> {text}".encode())


class Script(ForeignServers):
    def loads(self, name, port, *options):
        """The example loads the server: every reply is right."""
        done = run("load", "-p", "script", "--script", EXAMPLES / f"{name}.toml", "--connect",
                   f"127.0.0.1:{port}", "-c", 3, "-m", 40, "--json", self.path("r.json"), *options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        result = json.loads(pathlib.Path(self.path("r.json")).read_text(encoding="utf-8"))
        self.assertEqual(result["messages"]["verified"], 120)
        self.assertNotIn("unverified", result["messages"])
        return result

    def test_redis(self):
        port = free_port()
        self.start(self.needs("redis-server"), "--port", port, "--save", "", "--bind", "127.0.0.1", port=port)
        self.loads("redis", port, "--depth", 4)

    def test_memcached(self):
        port = free_port()
        self.start(self.needs("memcached"), "-l", "127.0.0.1", "-p", port, "-U", 0, "-u", "nobody", port=port)
        self.loads("memcached", port)

    def test_nginx(self):
        program, port = self.needs("nginx"), free_port()
        os.chmod(self.directory, 0o755)
        os.mkdir(self.path("root"))
        pathlib.Path(self.path("root/index.html")).write_text("Hello, World!", encoding="utf-8")
        pathlib.Path(self.path("nginx.conf")).write_text(
            f"daemon off; master_process off; pid {self.path('pid')}; error_log {self.path('log')};\n"
            "events {} http { access_log off; keepalive_requests 25;"
            f" client_body_temp_path {self.path('b')}; proxy_temp_path {self.path('p')};"
            f" fastcgi_temp_path {self.path('f')}; uwsgi_temp_path {self.path('u')};"
            f" scgi_temp_path {self.path('s')};"
            f" server {{ listen 127.0.0.1:{port}; root {self.path('root')}; }} }}", encoding="utf-8")
        self.start(program, "-c", self.path("nginx.conf"), "-e", self.path("log"), port=port)
        self.loads("nginx", port)

    def test_smtp(self):
        python = "/usr/bin/python3"  # that of the package
        has_it = subprocess.run([python, "-c", "import aiosmtpd"], capture_output=True, check=False)
        if has_it.returncode != 0:
            self.skipTest("python3-aiosmtpd is not installed: script/setup servers")
        port = free_port()
        self.start(python, "-m", "aiosmtpd", "-n", "-l", f"127.0.0.1:{port}", port=port)
        self.loads("smtp", port)

    def test_mqtt(self):
        port = free_port()
        self.start(self.needs("mosquitto"), "-p", port, port=port)
        self.loads("mqtt", port)

    def test_postgresql(self):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not found or os.geteuid() != 0:
            self.skipTest("PostgreSQL is not installed (script/setup servers), or this is not root")
        programs, port = found[-1].parent, free_port()
        as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        data = tempfile.mkdtemp(prefix="joust-", dir="/tmp")
        self.addCleanup(shutil.rmtree, data, True)
        shutil.chown(data, "postgres", "postgres")
        subprocess.run([*as_postgres, programs / "initdb", "-D", data + "/db", "-A", "trust", "-N"],
                       check=True, capture_output=True, timeout=120, cwd=data)
        self.start(*as_postgres, programs / "postgres", "-D", data + "/db", "-p", port, "-k", data, port=port)
        deadline = time.monotonic() + 60  # it listens before it takes queries
        while run("load", "-p", "script", "--script", EXAMPLES / "postgresql.toml", "--connect",
                  f"127.0.0.1:{port}", "-m", 1).returncode != 0 and time.monotonic() < deadline:
            time.sleep(0.1)
        self.loads("postgresql", port)

    def start_dns(self):
        port = free_port()
        self.start(self.needs("dnsmasq"), "-k", "-p", port, "--listen-address=127.0.0.1", "-i", "lo",
                   "--bind-interfaces", "-C", "/dev/null", "--no-resolv", "--no-hosts", "-u", "root",
                   "--address=/host.example/127.0.0.9", f"--pid-file={self.path('pid')}", port=port)
        return port

    def test_dns(self):
        self.loads("dns", self.start_dns())

    def test_dns_over_udp(self):
        port = self.start_dns()
        for engine in ("udp-batched", "udp-coroutines", "udp-reuseport"):
            with self.subTest(engine):
                self.loads("dns-udp", port, "-e", engine, "--wire", "plain")

    def test_plain_datagrams_are_for_clients(self):
        done = run("serve", "-e", "udp-batched", "--wire", "plain", "-p", "echo")
        self.refused(done, "--wire plain: only clients")

    def test_a_closed_port_of_udp_is_told(self):
        done = run("load", "-e", "udp-reuseport", "--wire", "plain", "-p", "script", "--script",
                   EXAMPLES / "dns-udp.toml", "--connect", f"127.0.0.1:{free_port()}", "-m", 5,
                   "--request-timeout", "100ms")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Connection refused", done.stderr)

    def test_lost_replies_of_udp_are_counted(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.bind(("127.0.0.1", 0))

            def answer_each_second_one():
                for number in range(60):
                    query, peer = server.recvfrom(2000)
                    if number % 2:
                        server.sendto(query, peer)
            threading.Thread(target=answer_each_second_one, daemon=True).start()
            done, result = self.load("-e", "udp-reuseport", "--wire", "plain", "-p", "script", "--send",
                                     "{id:u32}hello", "--reply", "datagram", "--reply-id", "u32", "--expect",
                                     "echo", "--connect", "127.0.0.1:%d" % server.getsockname()[1], "-m", 60,
                                     "--depth", 60, "--request-timeout", "200ms")
        self.assertEqual(result["messages"]["verified"], 30, done.stdout + done.stderr)
        self.assertEqual(result["messages"]["lost"], 30)

    def test_datagrams_have_numbers(self):
        script = ("-p", "script", "--send", "{id:u16}{bytes:1..100}", "--reply", "datagram",
                  "--reply-id", "u16", "--expect", "echo")
        for engine in ("udp-coroutines", "udp-batched", "zeromq"):
            if engine == "zeromq" and "zeromq " not in run("engines").stdout:
                continue
            with self.subTest(engine), Server("-e", engine, *script) as server:
                done = run("load", "-e", engine, *script, "--connect", server.address, "-c", 3, "-m", 100,
                           "--depth", 4)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("300 verified", done.stdout)

    def test_own_protocols_are_answered_on_engines(self):
        for name in ("length-prefixed", "json-lines"):
            script = ("-p", "script", "--script", EXAMPLES / f"{name}.toml")
            for engine in ("epoll", "threads", "io-uring", "processes"):
                with self.subTest(name=name, engine=engine):
                    with Server("-e", engine, *script) as server:
                        self.loads(name, server.address.rpartition(":")[2], "--depth", 8)

    def test_chat(self):
        with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Chat) as server:
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.loads("chat", server.server_address[1])
            server.shutdown()

    def test_a_message_is_tried(self):
        with Server("-p", "script", *PING) as server:
            done = run("load", "-p", "script", *PING, "--connect", server.address, "--try", 2)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("sent, 8 bytes\n  000000  50 49 4e 47 20 30 0d 0a ", done.stdout)
            self.assertIn("|PING 0..|", done.stdout)
            self.assertIn("came, 8 bytes: right\n", done.stdout)
            self.assertIn("All 2 replies are right.", done.stdout)
            wrong = run("load", "-p", "script", *PING[:3], "prefix:+", "--connect", server.address,
                        "--try", 1)
            self.assertEqual(wrong.returncode, 1)
            self.assertIn("a right one begins with '+'", wrong.stdout + wrong.stderr)
            self.refused(run("load", "-p", "script", *PING, "--connect", server.address, "--try", 1, "-c", 2),
                         "leave --connections out")
        with Server("-p", "http") as server:  # of any protocol
            done = run("load", "-p", "http", "--connect", server.address, "--try", 1)
            self.assertIn("|GET / HTTP/1.1..|", done.stdout)

    def test_a_message_that_no_template_fits_ends_the_connection(self):
        with Server("-p", "script", *PING) as server:
            host, _, port = server.address.rpartition(":")
            with socket.create_connection((host, int(port)), timeout=30) as peer:
                peer.sendall(b"PING 1\r\nPONG 2\r\n")
                self.assertEqual(peer.makefile("rb").read(), b"PONG 1\r\n")
            stopped = server.stop()
        self.assertEqual(stopped["errors"]["verify"], 1)

    def test_replies_that_nothing_checks_are_called_unverified(self):
        with Server("-p", "script", *PING) as server:
            load = ("load", "-p", "script", *PING[:2], "--connect", server.address)
            done = run(*load, "-m", 3)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("3 answered (unverified)", done.stdout)
            result = json.loads(run(*load, "-m", 3, "--json", "-").stdout)
            self.assertIs(result["messages"]["unverified"], True)
            self.assertIn("They are unverified", run(*load, "--try", 1).stdout)
        shown = run("race", "--server", "epoll,poll", "-p", "script", *PING[:2], "--expect", "none", "-c", 2,
                    "-d", "60ms", "--rounds", 3, "--allow-unranked", "--json", self.path("r.json"))
        self.assertEqual(shown.returncode, 2)
        self.assertIn("say --answer", shown.stderr)
        shown = run("race", "--server", "epoll,poll", "-p", "script", *PING[:2], "--answer", "PONG {1}\\r\\n",
                    "-c", 2, "-d", "60ms", "--rounds", 3, "--allow-unranked", "--json", self.path("r.json"))
        self.assertIn(shown.returncode, (0, 3), shown.stderr)  # 3: a sanitized build
        self.assertIn("The replies were not verified", " ".join(shown.stdout.split()))
        self.assertNotIn("ceiling is not measured", shown.stdout)
        self.assertRegex(shown.stdout, r"are not verified")
        document = json.loads(pathlib.Path(self.path("r.json")).read_text(encoding="utf-8"))
        self.assertIn("The replies were not verified", document["verdict"])

    @whose_races_count
    def test_engines_and_a_command_are_raced_by_a_scenario(self):
        text = EXAMPLES.joinpath("json-lines.toml").read_text(encoding="utf-8")
        file = self.path("race.toml")
        pathlib.Path(file).write_text(
            'protocol = "script"\nrounds = 3\nload = { duration = "100ms", warmup = "0", connections = 4 }\n'
            f"[options]\nscript = '''{text}'''\n"
            f'[[contestant]]\nserver = "epoll"\n[[contestant]]\nserver = "threads"\n'
            f"[[contestant]]\nname = \"mine\"\n"
            f'command = "exec {JOUST} serve -p script --script {EXAMPLES}/json-lines.toml '
            '--listen 127.0.0.1:{port}"\n',
            encoding="utf-8")
        done = run("race", file, "--allow-unranked", "--details")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("replies verified by what the script expects", done.stdout)

    @whose_races_count
    def test_a_server_that_joust_cannot_be_races_without_a_ceiling(self):
        server = (f"exec {JOUST} serve -p script --send 'PING {{message}}\\r\\n' "
                  "--expect 'exact:PONG {1}\\r\\n'")
        done = run("race", "--command", f"old={server} --listen 127.0.0.1:{{port}}", "--command",
                   f"new={server} --listen 127.0.0.1:{{port}}", "-p", "script", *PING[:2], "--expect",
                   "prefix:PONG", "-c", 2, "-d", "60ms", "--rounds", 3, "--allow-unranked", "--details")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the generator's ceiling is not measured", done.stdout)
        self.assertNotIn("failed", done.stderr)

    def test_bytes_that_are_no_whole_reply_are_shown(self):
        with Server("-p", "script", *PING) as server:
            done = run("load", "-p", "script", *PING[:2], "--reply", "length:100", "--connect",
                       server.address, "--request-timeout", "300ms", "--try", 1)
            self.assertEqual(done.returncode, 1)
            self.assertIn("came, 8 bytes: no whole message\n  000000  50 4f 4e 47", done.stdout)
            self.assertIn("no whole reply within the request timeout", done.stderr)

    def test_usage(self):
        self.refused(run("load", "-p", "script", "--connect", "127.0.0.1:1"), "--send: there is no message")
        self.refused(run("load", "-p", "script", "--send", "a{", "--connect", "127.0.0.1:1"),
                     "--send: at character 2: a brace that is not closed")
        self.refused(run("load", "-e", "udp-coroutines", "-p", "script", "--send", "a", "--connect",
                         "127.0.0.1:1"),
                     "over messages it is --reply datagram")
        self.refused(run("load", "-p", "script", "--send", "{id:u16}", "--reply", "datagram", "--reply-id",
                         "u16", "--connect", "127.0.0.1:1"), "needs an engine over UDP")
        self.refused(run("serve", "-p", "script", "--send", "a"), "the message has no reply: say --answer")
        self.refused(run("load", "-p", "script", "--script", self.path("none.toml"), "--connect",
                         "127.0.0.1:1"), "cannot be read")


if __name__ == "__main__":
    unittest.main()
