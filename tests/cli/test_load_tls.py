# SPDX-License-Identifier: MIT
"""Loads inside TLS, against a server of Python with a certificate of the test."""

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
import unittest

from program import Case, run

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nshort"


class PageServer:
    """Answers each request with a page, inside TLS. `wrong`: what it does in place of a handshake. `ends`:
    "closed" or "cut", it ends the connection behind the first page, with a close_notify or without."""

    def __init__(self, context, wrong=None, page=ANSWER, ends=None):
        self.context, self.wrong, self.page, self.ends = context, wrong, page, ends
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        with contextlib.suppress(OSError), peer:
            if self.wrong is not None:
                peer.recv(65536)  # all of it: a close with unread bytes would be a reset
                peer.sendall(self.wrong)
                return
            with self.context.wrap_socket(peer, server_side=True) as inside:
                waiting = b""
                while piece := inside.recv(65536):
                    waiting += piece
                    count = waiting.count(b"\r\n\r\n")
                    waiting = waiting.rsplit(b"\r\n\r\n", 1)[-1]
                    inside.sendall(self.page * count)
                    if self.ends == "closed":
                        inside.unwrap()
                    if self.ends and count:
                        return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


@unittest.skipUnless(shutil.which("openssl"), "no command openssl, which makes the certificates")
class LoadTls(Case):
    def setUp(self):
        super().setUp()
        self.context = self.certificate("own")

    def certificate(self, name):
        key, file = self.path(name + ".key"), self.path(name + ".pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-keyout", key, "-out", file, "-days", "1", "-subj", "/CN=server.test",
                        "-addext", "subjectAltName=DNS:server.test,IP:127.0.0.1"],
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file, key)
        return context

    def failed(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_a_verified_server_is_loaded(self):
        with PageServer(self.context) as server:
            url = f"https://{server.address}/"
            right = run("load", url, "-c", 3, "-m", 20, "--tls-ca", self.path("own.pem"))
            self.assertEqual(right.returncode, 0, right.stderr)
            self.assertIn("60 verified", right.stdout)
            self.assertIn("inside TLS", right.stdout)
            named = run("load", url, "-m", 1, "--tls-ca", self.path("own.pem"), "--tls-name", "server.test")
            self.assertEqual(named.returncode, 0, named.stderr)
            shown = run("load", url, "--try", 1, "--tls-ca", self.path("own.pem"))
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn("GET / HTTP", shown.stdout)

    def test_a_body_that_ends_with_the_stream_must_not_be_cut(self):
        page = b"HTTP/1.1 200 OK\r\n\r\nall of it"  # without a length
        for ends in ("closed", "cut"):
            with self.subTest(ends), PageServer(self.context, page=page, ends=ends) as server:
                done = run("load", f"https://{server.address}/", "-m", 1, "--tls-insecure")
                if ends == "closed":
                    self.assertEqual(done.returncode, 0, done.stderr)
                else:
                    self.failed(done, "TLS: the stream was cut: it ended without a close")

    def test_what_is_not_verified_is_refused_in_words(self):
        self.certificate("other")
        with PageServer(self.context) as server:
            load = ("load", f"https://{server.address}/", "-m", 1)
            self.failed(run(*load, "--tls-ca", self.path("other.pem")), "is not trusted", "--tls-ca")
            self.failed(run(*load, "--tls-ca", self.path("own.pem"), "--tls-name", "b.test"),
                        "is not for 'b.test'", "--tls-name")
            self.failed(run(*load), "is not trusted", "--tls-insecure")
            trusting = run(*load, "--tls-insecure")
            self.assertEqual(trusting.returncode, 0, trusting.stderr)
            self.assertIn("certificate is not verified", trusting.stdout)

    def test_the_plan_travels_as_a_document(self):
        with PageServer(self.context) as server:
            done, result = self.load("-p", "http", "--connect", server.address, "-m", 5, "--text", "short",
                                     "--tls", "--tls-ca", self.path("own.pem"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIs(result["plan"]["tls"], True)
            self.assertEqual(result["plan"]["tls_ca"], self.path("own.pem"))
            self.assertNotIn("tls_name", result["plan"])

    def test_servers_that_do_not_shake_hands_are_named(self):
        for wrong, words in ((b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak TLS"),
                             (b"", "closed the connection while shaking hands"),
                             (b"\x16\x03\x03\x40\x00" + b"\x02" * 20000, "TLS: the handshake failed")):
            with PageServer(None, wrong) as server:
                self.failed(run("load", f"https://{server.address}/", "-m", 1, "--tls-insecure"), words)

    def test_what_cannot_be_inside_tls_is_refused(self):
        load = ("load", "-p", "echo", "-m", 1)
        self.refused(run(*load, "--connect", "127.0.0.1:1", "--tls-insecure"), "--tls-insecure needs --tls")
        there = ("--connect", "127.0.0.1:1")
        self.refused(run(*load, *there, "--tls", "-e", "udp-batched"), "TLS needs a stream")
        self.refused(run(*load, "-e", "null", "--tls"), "no sockets")
        self.refused(run(*load, "--connect", "unix:/nowhere", "--tls"), "--tls-name")
        raced = run("race", "--server", "epoll", "-p", "echo", "--tls", "--dry-run")
        self.assertIn("have no certificate", raced.stdout + raced.stderr)


if __name__ == "__main__":
    unittest.main()
