# SPDX-License-Identifier: MIT
"""The servers of the scenarios languages and http-servers, started as there: every reply is right."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

from program import Case, long, run

SOURCES = pathlib.Path(__file__).resolve().parents[2]
RUN = SOURCES / "examples" / "languages" / "run"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
PATIENCE_S = 240  # the first build of Go's own net/http takes a minute on a busy machine
MIB = 1 << 20


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ServersOfOthers(Case):
    def setUp(self):
        super().setUp()
        # Pages are compiled anew, and Go's own packages are not.
        go = os.environ.get("GOCACHE", str(CACHE / "go-build"))
        self.environment = os.environ | {"XDG_CACHE_HOME": self.directory, "GOCACHE": go}

    def needs(self, *programs):
        for program in programs:
            if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin") is None:
                self.skipTest(f"{program} is not installed: script/setup languages servers")

    def start(self, *command):
        """The process and its port, once it listens. It gets no signal of the terminal."""
        port = free_port()
        with open(self.path("said"), "w+b") as said:
            process = subprocess.Popen([*command, str(port)], env=self.environment, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=said, start_new_session=True)
        self.addCleanup(self.kill, process)
        deadline = time.monotonic() + PATIENCE_S
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return process, port
            words = pathlib.Path(self.path("said")).read_text(encoding="utf-8")
            self.assertIsNone(process.poll(), f"{command} ended: {words}")
            self.assertLess(time.monotonic(), deadline, f"{command} does not listen: {words}")
            time.sleep(0.02)

    @staticmethod
    def kill(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=PATIENCE_S)

    def verified(self, port, *options):
        """How many replies the load has verified. It fails unless every one is right."""
        done = run("load", "--connect", f"127.0.0.1:{port}", "--json", self.path("r.json"), *options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        result = json.loads(pathlib.Path(self.path("r.json")).read_text(encoding="utf-8"))
        return result["messages"]["verified"]

    def answers_http(self, process, port):
        self.assertEqual(self.verified(port, "-p", "http", "-c", 64, "-m", 20), 64 * 20)
        self.assertEqual(self.verified(port, "-p", "http", "-c", 4, "-m", 40, "--depth", 16), 160)
        self.ends(process)

    def ends(self, process):
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE_S)


class Languages(ServersOfOthers):
    def echoes_to_the_end(self, port):
        """A client that reads late, and has ended its direction by then, gets all its bytes and the end."""
        sent = os.urandom(4 * MIB)
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
            def send():
                client.sendall(sent)
                client.shutdown(socket.SHUT_WR)

            sender = threading.Thread(target=send)
            sender.start()
            time.sleep(0.05)  # the buffers fill meanwhile
            received = bytearray()
            while piece := client.recv(1 << 16):
                received += piece
            sender.join(PATIENCE_S)
        self.assertEqual(received, sent)

    def check(self, language, *programs, http=True):
        self.needs(*programs)
        process, port = self.start(RUN, language, "echo")
        self.assertGreater(self.verified(port, "-p", "echo", "-c", 20, "-d", "300ms", "-w", "100ms"), 0)
        self.assertEqual(self.verified(port, "-p", "echo", "-c", 4, "-m", 20, "--payload", 1), 80)
        self.assertEqual(self.verified(port, "-p", "echo", "-c", 2, "-m", 3, "--payload", "1MiB"), 6)
        self.echoes_to_the_end(port)
        self.ends(process)
        if http:
            self.answers_http(*self.start(RUN, language, "http"))

    def test_c(self):
        self.check("c", "cc")

    @long
    def test_go(self):
        self.check("go", "go")

    def test_node(self):
        self.check("node", "node")

    def test_python(self):
        self.check("python", "python3", http=False)

    @long
    def test_java(self):
        self.check("java", "java", "javac")

    @long
    def test_rust(self):
        self.check("rust", "rustc", http=False)

    def test_what_comes_from_a_registry_where_it_is_built_already(self):
        """Here nothing is fetched: a test must not depend on a network."""
        self.environment["XDG_CACHE_HOME"] = str(CACHE)
        folders = {"uvloop": "python", "tokio": "tokio", "netty": "netty"}
        stamps = {name: CACHE / "joust/languages" / folder / "stamp" for name, folder in folders.items()}
        built = [name for name, stamp in stamps.items() if stamp.is_file()]
        if not built:
            self.skipTest("none is built: examples/languages/run --build uvloop tokio netty")
        for language in built:
            with self.subTest(language):
                self.check(language)

    def test_what_is_lacking_has_its_reason(self):
        """A build that fails, and a language without its tools."""
        tools = pathlib.Path(self.path("tools"))
        tools.mkdir()
        for tool in ("sh", "cat", "cksum", "mkdir", "rm", "cp", "tail", "dirname"):
            (tools / tool).symlink_to(shutil.which(tool))
        (tools / "cargo").write_text("#!/bin/sh\necho 'error: no registry' >&2\nexit 101\n", encoding="utf-8")
        (tools / "cargo").chmod(0o755)
        self.environment["PATH"] = str(tools)
        failed = "error: no registry\ntokio could not be built; the log"
        for language, code, words in (("go", 127, "go is not installed"), ("cobol", 2, "no language 'cobol'"),
                                      ("tokio", 127, failed)):
            with self.subTest(language):
                done = subprocess.run([RUN, language, "echo", "9"], env=self.environment, capture_output=True,
                                      text=True, timeout=PATIENCE_S, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)
        done = subprocess.run([RUN, "--build", "node"], env=self.environment, capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "node: node is not installed\n"))
        done = subprocess.run([RUN, "--build", "nosuch"], env=self.environment, capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no language 'nosuch'; there are: c go ", done.stderr)


class WebServers(ServersOfOthers):
    def test_each_answers_and_leaves_nothing(self):
        folder = pathlib.Path(self.path("folders"))
        folder.mkdir()
        folder.chmod(0o755)
        os.chmod(self.directory, 0o755)  # some serve as another user than root
        self.environment["TMPDIR"] = str(folder)
        for script, program in (("nginx", "nginx"), ("lighttpd", "lighttpd"), ("h2o", "h2o"),
                                ("caddy", "caddy"), ("apache", "apache2")):
            with self.subTest(script):
                self.needs(program)
                self.answers_http(*self.start(SOURCES / "benchmarks" / f"{script}.sh"))
                self.assertEqual(list(folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
