# SPDX-License-Identifier: MIT
"""The protocol http as a client of servers that end their connections by replies."""

import contextlib
import http.server
import json
import os
import subprocess
import sys
import textwrap
import threading
import unittest

from program import PATIENCE_S, TESTS, Case, Server, long, run

SERVER = os.path.join(TESTS, "cli", "ending_server.py")
ENGINES = ("epoll", "io-uring", "threads", "two-threads", "select", "coroutines", "asio-pool", "qt")


def rows(kind):
    return {row["name"]: row for row in json.loads(run(kind, "--json").stdout)}


@contextlib.contextmanager
def ending(replies, how, address="0"):
    """The address of a server that ends each connection after so many replies."""
    command = [sys.executable, SERVER, address, str(replies), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


class ForeignHttp:
    """A server of Python's library, which remembers the requests. It ends connections without saying so."""

    def __enter__(self):
        heard = self.heard = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def answer(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                heard.append((self.command, self.path, self.headers, body))
                self.send_response(201 if body else 200)
                if self.command == "GET":
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    self.wfile.write(b"5\r\nHello\r\n0\r\n\r\n")
                else:
                    self.send_header("Content-Length", "5")
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(b"Hello")

            do_GET = do_HEAD = do_POST = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = "127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Url(Case):
    def test_a_url_is_loaded_whatever_its_body_is(self):
        with Server("-p", "http", "--text", "some page") as server:
            url = f"http://{server.address}/"
            done = run("load", url, "-c", 2, "-m", 20)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("40 verified", done.stdout)
            self.assertEqual(run("load", url, "-m", 2, "--text", "some page").returncode, 0)
            wrong = run("load", url, "-m", 2, "--text", "another page")
            self.assertIn("the body of a reply is not that of --text", wrong.stderr)
            missing = run("load", url + "none", "-m", 2)
            self.assertEqual(missing.returncode, 1)
            self.assertIn("GET /none: the status of a reply is 404", missing.stderr)
            self.refused(run("load", url, "--connect", server.address), "leave -p, --connect, --path")

    def test_a_body_of_any_size_is_counted(self):
        os.mkdir(self.path("root"))
        with open(self.path("root/large"), "wb") as file:
            file.write(b"x" * 5_000_000)
        with Server("-p", "http", "--root", self.path("root")) as server:
            url = f"http://{server.address}/large"
            done = run("load", url, "-c", 2, "-m", 3, "--json", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            result = json.loads(done.stdout)
            self.assertGreaterEqual(result["bytes"]["received"], 6 * 5_000_000)
            compared = run("load", url, "-m", 1, "--text", "x")
            self.assertIn("a reply has a body of 5000000 bytes: at most 1048576 are read", compared.stderr)

    def test_requests_are_those_of_the_options(self):
        with ForeignHttp() as server:
            for options in (("--method", "POST", "--data", '{"a": 1}', "--header", "Content-Type: text/x",
                             "--header", "X-A: b", "--status", "2xx"),
                            ("--method", "HEAD"), ("--header", "Connection: close"), ("--depth", 3)):
                done = run("load", f"http://{server.address}/a?b=c", "-c", 3, "-m", 10, *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("30 verified", done.stdout)
            path = self.path("paths")
            with open(path, "w", encoding="utf-8") as file:
                file.write("/one\n9 /nine\n")
            done = run("load", "-p", "http", "--connect", server.address, "--path", f"@{path}",
                       "--body", "any", "-m", 300)
            self.assertEqual(done.returncode, 0, done.stderr)
        command, asked, fields, body = server.heard[0]
        self.assertEqual((command, asked, body), ("POST", "/a?b=c", b'{"a": 1}'))
        self.assertEqual((fields["content-type"], fields["x-a"]), ("text/x", "b"))
        ones = [asked for _, asked, _, _ in server.heard].count("/one")
        self.assertGreater(ones, 5)
        self.assertLess(ones, 60)

    def test_wrong_requests_are_refused(self):
        load = ("load", "http://127.0.0.1:1/")
        self.refused(run(*load, "--data", "x"), "--method POST")
        self.refused(run(*load, "--header", "x"), "'Name: value'")
        self.refused(run(*load, "--status", "ok"), "--status: 'ok' is no list")
        self.refused(run(*load, "--method", "post"), "--method: 'post'")
        self.refused(run(*load, "--method", "POST", "--data", "@/nothing/here"), "/nothing/here")
        self.refused(run(*load, "--method", "PUT", "--method", "POST"), "give it once")


class Ending(Case):
    def loaded(self, address, *arguments):
        """The result of a load that must be clean."""
        done, result = self.load("-p", "http", "--connect", address, "-c", 4, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual(result["connections"]["failed"], 0)
        messages = result["messages"]
        self.assertEqual(messages["sent"], messages["verified"] + messages["failed"] + messages["in_flight"])
        self.assertEqual(messages["failed"], 0)
        self.valid(self.path("load.json"))
        return result

    def test_each_way_to_say_that_it_is_the_last(self):
        for how in ("close", "reset", "goes-on", "http-1.0", "no-length", "chunked", "hints"):
            with self.subTest(how), ending(3, how) as address:
                result = self.loaded(address, "-m", 9)
                self.assertEqual(result["messages"]["verified"], 36)
                self.assertEqual(result["handovers"], 8)

    @long
    def test_every_engine_goes_on(self):
        table = rows("engines")
        for engine in ENGINES:
            if not table[engine]["available"]:
                continue
            for replies in (1, 7):
                with self.subTest(engine=engine, replies=replies), ending(replies, "close") as address:
                    result = self.loaded(address, "-e", engine, "-m", 50, "--depth", 16)
                    self.assertEqual(result["messages"]["verified"], 200)

    def test_over_a_unix_socket(self):
        with ending(2, "close", self.path("socket")) as address:
            self.assertEqual(self.loaded(address, "-m", 10)["messages"]["verified"], 40)

    def test_in_a_window_and_in_an_open_loop(self):
        with ending(5, "close") as address:
            self.assertGreater(self.loaded(address, "-d", "300ms", "-w", "100ms")["handovers"], 0)
            result = self.loaded(address, "-d", "500ms", "-R", 200, "--arrivals", "constant", "--depth", 4)
            self.assertEqual(result["messages"]["due"], 100)
            self.assertEqual(result["messages"]["verified"], 100)

    def test_whatever_reconnect_says(self):
        for word in ("never", "always"):
            with self.subTest(word), ending(3, "close") as address:
                result = self.loaded(address, "-m", 9, "--reconnect", word)
                self.assertEqual((result["handovers"], result["reconnects"]), (8, 0))

    def test_an_end_that_no_reply_tells_is_a_failure(self):
        with ending(3, "silently") as address:
            done, result = self.load("-p", "http", "--connect", address, "-c", 4, "-m", 10)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the server closed the connection early", done.stderr)
        self.assertEqual(result["messages"]["verified"], 12)
        self.assertEqual(result["handovers"], 0)

    def test_without_sockets(self):
        few = ("--requests-per-connection", 3)
        done, result = self.load("-e", "null", "-p", "http", *few, "-c", 4, "-m", 10)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(result["messages"]["verified"], 40)
        self.assertEqual(result["handovers"], 12)

    def test_the_server_of_joust_does_it_too(self):
        with Server("-p", "http", "--requests-per-connection", 10) as server:
            result = self.loaded(server.address, "-m", 25, "--depth", 3)
            stopped = server.stop()
        self.assertEqual(result["handovers"], 8)
        self.assertEqual(stopped["connections"]["accepted"], 12)
        self.assertEqual(stopped["connections"]["failed"], 0)

    # In turns: it is ranked from a scenario that says nothing of connections.
    def test_a_race_ranks_such_a_server(self):
        with open(self.path("race.toml"), "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(f"""\
                protocol = "http"
                [load]
                connections = 4
                duration = "200ms"
                [matrix]
                servers = ["epoll"]
                clients = ["epoll"]
                [[contestant]]
                name = "ending"
                command = "exec {sys.executable} {SERVER} {{port}} 5 close"
                client = "epoll"
                """))
        done = run("race", self.path("race.toml"), "--rounds", 2, "--details", "--json",
                   self.path("race.json"))
        self.assertIn(done.returncode, (0, 3), done.stderr)
        told = " ".join(done.stdout.split())
        self.assertIn("ended with a reply of the server, and were dialled again", told)
        with open(self.path("race.json"), encoding="utf-8") as file:
            rows_of_race = {row["name"]: row for row in json.load(file)["contestants"]}
        self.assertTrue(rows_of_race["ending"]["ranked"], rows_of_race["ending"])


if __name__ == "__main__":
    unittest.main()
