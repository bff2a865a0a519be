# SPDX-License-Identifier: MIT
"""The protocol http: files and a text, with curl and sockets for clients."""

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
import unittest

from program import Case, Server, run

ENGINES = ("epoll", "io-uring", "threads", "poll")
A_SECOND = 1  # the longest time for which docs/http-protocol.md has a file served that has changed


def rows(kind):
    return {row["name"]: row for row in json.loads(run(kind, "--json").stdout)}


def content(size):
    return bytes(i * 7 % 251 for i in range(size))


def engines():
    table = rows("engines")
    return [name for name in ENGINES if table[name]["available"]]


class Files(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("root"))
        self.write("root/large.bin", content(3_000_000))
        self.write("root/small.txt", b"0123456789 and more")
        os.mkdir(self.path("root/folder"))
        self.write("root/folder/index.html", b"<p>index</p>")

    def write(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def server(self, *more):
        return Server("-p", "http", "--root", self.path("root"), *more)


class Http(Files):
    def say(self, server, request):
        """All that comes until the server closes."""
        host, port = server.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=60) as peer:
            peer.sendall(request)
            answer = b""
            while piece := peer.recv(65536):
                answer += piece
        return answer

    def test_the_text_is_served_and_loaded(self):
        with Server("-p", "http", "--text", "short") as server:
            done, result = self.load("-p", "http", "--connect", server.address, "-c", 3, "-m", 100,
                                     "--depth", 2, "--text", "short")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(result["messages"]["verified"], 300)
            answer = self.say(server, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            wrong, _ = self.load("-p", "http", "--connect", server.address, "-m", 1)
            stopped = server.stop()
        self.assertTrue(answer.startswith(b"HTTP/1.1 200 OK\r\n"), answer)
        self.assertTrue(answer.endswith(b"\r\nContent-Length: 5\r\nConnection: close\r\n\r\nshort"), answer)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("the body of a reply is not that of --text", wrong.stderr)
        self.assertEqual(stopped["http"]["requests"], 302)
        self.assertEqual(stopped["http"]["refused"], 0)

    def test_what_makes_no_sense_is_refused(self):
        load = ("load", "-p", "http", "--connect", "127.0.0.1:1")
        self.refused(run(*load, "--path", "a"), "--path 'a'", "such as")
        self.refused(run(*load, "--payload", 3), "--path")
        self.refused(run("serve", "-p", "http", "--root", self.path("none")), "--root", "No such file")
        self.refused(run("serve", "-e", "udp-batched", "-p", "http"), "unsupported", "stream")
        self.refused(run("race", "--server", "epoll", "-p", "http", "--path", "x", "--dry-run"), "--path")

    def test_bad_requests_are_answered_and_counted(self):
        with self.server() as server:
            answer = self.say(server, b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
                                      b"Transfer-Encoding: chunked\r\n\r\nx")
            self.assertTrue(answer.startswith(b"HTTP/1.1 400 Bad Request\r\n"), answer)
            answer = self.say(server, b"\x16\x03\x01")
            self.assertTrue(answer.startswith(b"HTTP/1.1 400 Bad Request\r\n"), answer)
            stopped = server.stop()
        self.assertEqual(stopped["errors"], {"verify": 2})
        self.assertEqual(stopped["http"]["refused"], 2)

    # A page of another host must not read what is served here, though its name is that of loopback by now.
    def test_a_server_on_loopback_answers_its_own_names(self):
        def status(server, host, target="/small.txt"):
            answer = self.say(server, f"GET {target} HTTP/1.1\r\nHost: {host}\r\n"
                                      "Connection: close\r\n\r\n".encode())
            return int(answer.split()[1])

        with self.server("--allowed-hosts", "dev.example,other.example") as server:
            for host in ("localhost", "LOCALHOST:1", "127.1.2.3", "[::1]:80", server.address, "dev.example"):
                self.assertEqual(status(server, host), 200, host)
            for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0"):
                self.assertEqual(status(server, host), 421, host)
            self.assertEqual(status(server, "localhost", "http://evil.example/small.txt"), 421)
        with self.server("--listen", "0.0.0.0:0", "--public") as server:
            self.assertEqual(status(server, "any.example"), 200)
        with self.server("--listen", "127.0.0.1:0", "--public") as server:
            self.assertEqual(status(server, "any.example"), 421)
        wrong = run("serve", "-p", "http", "--allowed-hosts", "a b")
        self.refused(wrong, "--allowed-hosts", "'a b' is no host")

    def test_a_race_may_ask_for_any_host(self):
        done = run("race", "--server", "epoll", "-p", "http", "--host", "dev.example", "-c", 2, "--rounds", 1,
                   "-d", "100ms", "--json", self.path("race.json"))
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.assertTrue(json.loads(self.read("race.json"))["contestants"][0]["ranked"], done.stdout)

    def test_names_stay_below_the_root(self):
        self.write("secret", b"secret")
        os.symlink(self.path("secret"), self.path("root/link"))
        os.mkfifo(self.path("root/fifo"))
        with self.server() as server:
            for name in ("../secret", "%2e%2e/secret", "..%2fsecret", "folder/../../secret", "link", "fifo",
                         "folder%2Findex.html", "%00", "/secret", "folder//index.html"):
                request = f"GET /{name} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                answer = self.say(server, request.encode())
                self.assertTrue(answer.startswith(b"HTTP/1.1 404 Not Found\r\n"), (name, answer))

    def test_the_root_is_opened_once(self):
        os.mkdir(self.path("other"))
        self.write("other/small.txt", b"other")
        os.symlink("root", self.path("current"))
        request = b"GET /small.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        with Server("-p", "http", "--root", self.path("current")) as server:
            os.unlink(self.path("current"))
            os.symlink("other", self.path("current"))
            self.assertTrue(self.say(server, request).endswith(b"0123456789 and more"))
            os.rename(self.path("root"), self.path("moved"))
            self.assertTrue(self.say(server, request).endswith(b"0123456789 and more"))
        told = " ".join(run("serve", "--help", "all").stdout.split())
        for protocol in ("http", "file"):
            self.assertRegex(told, f"{protocol}: the directory whose [^;]*; it is opened once, at the start")

    def test_a_race_has_it(self):
        done = run("race", "--server", "epoll,poll", "-p", "http", "-c", 4, "--rounds", 1, "-d", "100ms",
                   "--json", self.path("race.json"))
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.valid(self.path("race.json"))
        self.assertIn("by status, length and body", self.read("race.json").decode())


@unittest.skipUnless(shutil.which("curl"), "curl is not installed")
class Curl(Files):
    def curl(self, *arguments, code=0):
        done = subprocess.run(["curl", "--silent", "--show-error", "--max-time", "60", *arguments],
                              capture_output=True, timeout=90, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def url(self, server, name=""):
        return f"http://{server.address}/{name}"

    def test_a_file_is_fetched_whole_and_in_part(self):
        for engine in engines():
            with self.subTest(engine=engine), self.server("-e", engine) as server:
                url = self.url(server, "large.bin")
                self.assertEqual(self.curl(url), content(3_000_000))
                self.assertEqual(self.curl("--range", "10-19", url), content(20)[10:])
                self.assertEqual(self.curl("--range", "-5", url), content(3_000_000)[-5:])
                self.assertEqual(self.curl("--range", "2000000-", url), content(3_000_000)[2_000_000:])
                self.assertEqual(self.curl("--http1.0", url), content(3_000_000))
                self.assertEqual(server.stop()["connections"]["failed"], 0)

    def test_a_download_is_resumed(self):
        for engine in engines():
            with self.subTest(engine=engine), self.server("-e", engine) as server:
                self.write("part", content(3_000_000)[:1_234_567])
                self.curl("-C", "-", "-o", self.path("part"), self.url(server, "large.bin"))
                self.assertEqual(self.read("part"), content(3_000_000))

    def test_connections_are_used_again(self):
        with self.server() as server:
            url = self.url(server, "small.txt")
            both = self.curl(url, self.url(server, "none"), url)
            self.assertEqual(both, b"0123456789 and more" + b"404 Not Found\n" + b"0123456789 and more")
            stopped = server.stop()
        self.assertEqual(stopped["connections"]["accepted"], 1)
        self.assertEqual(stopped["http"]["file_bytes_sent"], 2 * 19)

    def test_heads_and_conditions(self):
        with self.server() as server:
            url = self.url(server, "small.txt")
            head = self.curl("--head", url).decode()
            self.assertIn("Content-Length: 19\r\n", head)
            self.assertIn("Content-Type: text/plain; charset=utf-8\r\n", head)
            code = ("-o", "/dev/null", "-w", "%{http_code}")
            self.assertEqual(self.curl(*code, "-z", self.path("root/small.txt"), url), b"304")
            self.curl("--etag-save", self.path("tag"), "-o", "/dev/null", url)
            self.assertEqual(self.curl(*code, "--etag-compare", self.path("tag"), url), b"304")
            self.write("root/small.txt", b"changed!")
            time.sleep(A_SECOND)
            self.assertEqual(self.curl("--etag-compare", self.path("tag"), url), b"changed!")
            self.assertEqual(self.curl(*code, "--data", "x=1", url), b"405")
            self.assertEqual(self.curl(*code, "--range", "100-", url), b"416")

    def test_a_folder_is_its_index(self):
        with self.server() as server:
            self.assertEqual(self.curl("--location", self.url(server, "folder")), b"<p>index</p>")
            self.assertEqual(self.curl("-o", "/dev/null", "-w", "%{http_code}", self.url(server)), b"404")

    def test_a_directory_is_listed(self):
        os.mkdir(self.path("root/a <b>"))
        self.write("root/a <b>/50% #1?.txt", b"found")
        os.symlink("small.txt", self.path("root/link"))
        for engine in engines():
            with self.subTest(engine=engine), self.server("--list", "-e", engine) as server:
                page = self.curl(self.url(server)).decode()
                links = re.findall('href="([^"]*)"', page)
                self.assertEqual(links, ["a%20%3Cb%3E/", "folder/", "large.bin", "small.txt"])
                self.assertIn("2.86 MiB", page)
                self.assertNotIn("<b>", page)
                self.assertEqual(self.curl("--location", self.url(server, "folder")), b"<p>index</p>")
                page = self.curl("--location", self.url(server, links[0].rstrip("/"))).decode()
                links = re.findall('href="([^"]*)"', page)
                self.assertEqual(links, ["../", "../", "50%25%20%231%3F.txt"])
                self.assertEqual(self.curl(self.url(server, "a%20%3Cb%3E/" + links[2])), b"found")
        self.refused(run("serve", "-p", "http", "--list"), "--list", "--root")

    def test_many_at_once(self):
        with self.server("-e", "epoll") as server:
            found = {}

            def fetch(number):
                part = f"{number * 300_000}-{number * 300_000 + 299_999}"
                found[number] = self.curl("--range", part, self.url(server, "large.bin"))

            threads = [threading.Thread(target=fetch, args=(number,)) for number in range(10)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(b"".join(found[number] for number in range(10)), content(3_000_000))

    def test_files_are_replaced_while_they_are_served(self):
        versions = [bytes([65 + i]) * (1000 + i) for i in range(20)]
        self.write("root/page", versions[0])
        found, over = [], threading.Event()
        with self.server("-e", "epoll", "-t", "2") as server:

            def ask(connection):
                connection.request("GET", "/page")
                reply = connection.getresponse()
                return reply.status, reply.read()

            def go_on():
                with contextlib.closing(http.client.HTTPConnection(server.address, timeout=60)) as connection:
                    while not over.is_set():
                        found.append(ask(connection))

            asking = [threading.Thread(target=go_on) for _ in range(2)]
            for thread in asking:
                thread.start()
            for version in versions:
                self.write("root/next", version)
                os.replace(self.path("root/next"), self.path("root/page"))
                time.sleep(A_SECOND / 20)
            over.set()
            for thread in asking:
                thread.join()
            self.assertLessEqual(set(found), {(200, version) for version in versions})
            time.sleep(A_SECOND)
            with contextlib.closing(http.client.HTTPConnection(server.address, timeout=60)) as connection:
                self.assertEqual(ask(connection), (200, versions[-1]))
                os.remove(self.path("root/page"))
                time.sleep(A_SECOND)
                self.assertEqual(ask(connection)[0], 404)

    # curl must not take what has come for the whole.
    def test_a_file_that_shrinks_is_seen_to_be_cut_off(self):
        size = 60_000_000
        self.write("root/huge", b"x" * size)
        with self.server() as server:
            command = ["curl", "--silent", "--max-time", "60", "--limit-rate", "20M", "-o", self.path("got"),
                       self.url(server, "huge")]
            with subprocess.Popen(command) as process:
                while not (os.path.exists(self.path("got")) and os.path.getsize(self.path("got")) > 0):
                    self.assertIsNone(process.poll())
                os.truncate(self.path("root/huge"), size // 2)
                self.assertEqual(process.wait(60), 18)  # a partial file
            self.assertEqual(server.stop()["http"]["cut_off"], 1)


if __name__ == "__main__":
    unittest.main()
