# SPDX-License-Identifier: MIT
"""Every command of the documents is run, in a short form, or is in a list with the reason why not."""

import contextlib
import http.server
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

import documented
from program import BUILD, JOUST, PATIENCE_S, Case, Server, run

# Numbers of a reader's history and addresses of other machines, and what the test has in their place.
STAND_INS = (("17", "1"), ("18", "2"), ("19", "3"), ("21", "3"))
# The first word of a command that another package has: without it the command is not run.
OF_OTHERS = ("aria2c", "curl", "cc", "tar")
# Not where Open MPI is another version than 4.
LOADS_OVER_HOSTS = shutil.which("mpirun") is not None and os.path.exists(os.path.join(BUILD, "joust-relay"))
ADDRESS = r"(?:127\.0\.0\.1|0\.0\.0\.0|server):\d+"
ECHO = f"""#!{sys.executable}
import socketserver, sys
class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(65536): self.request.sendall(data)
socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[-1])), Echo).serve_forever()
"""


class Pages(http.server.BaseHTTPRequestHandler):
    """Answers every request with a page."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"page\n")

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


class PageServer(http.server.ThreadingHTTPServer):
    request_queue_size = 100

    def handle_error(self, *_):
        pass  # a load that ends closes its connections


class TlsFront:
    """Takes TLS off what goes to a server."""

    def __init__(self, address, folder):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(folder / "ca.pem", folder / "ca.key")
        host, port = address.split(":")
        self.behind = (host, int(port))
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.join, args=self.listener.accept()[:1], daemon=True).start()

    def join(self, peer):
        with contextlib.suppress(OSError), self.context.wrap_socket(peer, server_side=True) as inside:
            with socket.create_connection(self.behind) as behind:
                # One thread for both directions: an SSL object is not for two at a time.
                inside.settimeout(0.002)
                behind.settimeout(0.002)
                while self.pass_on(inside, behind) and self.pass_on(behind, inside):
                    pass

    @staticmethod
    def pass_on(source, target):
        try:
            data = source.recv(65536)
        except TimeoutError:
            return True
        target.sendall(data)
        return bool(data)


@unittest.skipUnless(shutil.which("openssl") and shutil.which("cc"), "needs the commands openssl and cc")
class Documents(Case):
    @classmethod
    def setUpClass(cls):
        cls.seed = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="joust-")))
        cls.build_sandbox(cls.seed)

    @staticmethod
    def build_sandbox(seed):
        """What the documents say that the reader has."""
        for name in ("disk.img", "a.iso", "photos/one.jpg", "DIRECTORY/large.iso"):
            (seed / name).parent.mkdir(exist_ok=True)
            (seed / name).write_bytes(os.urandom(10_000))
        (seed / "paths").write_text("/a\n3 /b\n", encoding="ascii")
        for name in ("server-old", "server-new", "server", "my-server", "old", "new", "redis-old"):
            (seed / name).write_text(ECHO, encoding="ascii")
            (seed / name).chmod(0o755)
        for name in ("docs", "examples", "include", "scenarios"):
            (seed / name).symlink_to(documented.ROOT / name)
        shutil.copy(documented.ROOT / "examples/plugin/keyvalue.c", seed / "mine.c")
        for name in ("mine.so", "old.so", "new.so"):
            make = ["cc", "-shared", "-fPIC", "-I", seed / "include", "-o", seed / name, seed / "mine.c"]
            subprocess.run(make, check=True, timeout=60)
        make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
        make += " -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout ca.key -out ca.pem"
        subprocess.run(make.split(), check=True, capture_output=True, timeout=60, cwd=seed)
        race = [JOUST, "race", "--server", "epoll,threads", "-c", "1", "-d", "10ms", "--rounds", "2"]
        race.append("--json")
        environment = os.environ | {"XDG_STATE_HOME": str(seed / "state")}
        races = [
            subprocess.Popen([*race, seed / name], env=environment, stdout=subprocess.DEVNULL)
            for name in ("result.json", "second.json", "third.json")
        ]
        assert all(race.wait(PATIENCE_S) in (0, 3) for race in races)

    def sandbox(self, block):
        """A folder like the seed, for the commands of one block."""
        folder = pathlib.Path(self.path(re.sub(r"\W", "-", f"{block[0].file}-{block[0].block}")))
        shutil.copytree(self.seed, folder, symlinks=True)
        if not any(command.text.startswith("mkdir incoming") for command in block):
            (folder / "incoming").mkdir()
        if not any("--new-token token" in command.text for command in block):
            run("receive", "--new-token", folder / "token")
        return folder

    def test_every_command_is_run_or_is_in_the_list(self):
        seen = 0
        for path in documented.documents():
            blocks = {}
            for command in documented.commands(path):
                blocks.setdefault(command.block, []).append(command)
            races = [[race] for race in documented.races_in_text(path)]
            for block in [*blocks.values(), *races]:
                self.run_block(block)
                seen += len(block)
        self.assertGreater(seen, 100)

    def run_block(self, block):
        todo = [command for command in block if documented.reason_not_to_run(command.text) is None]
        if not todo:
            return
        folder = self.sandbox(block)
        prelude = ""
        with contextlib.ExitStack() as servers:
            addresses = {}
            for command in todo:
                if re.match(r"(export )?\w+=", command.text):
                    prelude += command.text + "\n"
                    continue
                with self.subTest(str(command)):
                    self.run_command(command, folder, prelude, servers, addresses)

    def run_command(self, command, folder, prelude, servers, addresses):
        text = command.text
        program = text.split()[0]
        if program in OF_OTHERS and shutil.which(program) is None:
            return
        if documented.is_server(text):
            address = re.search(ADDRESS, text).group()
            addresses[address] = servers.enter_context(Started(text, folder))
            return
        if program not in ("joust", "mkdir", *OF_OTHERS):
            self.fail(f"{command}: unknown; run it here, or give a reason in NOT_RUN of documented.py")
        text = documented.shortened(text)
        if text.startswith("joust load") and " --hosts" in text and not LOADS_OVER_HOSTS:
            return
        for said, meant in STAND_INS if re.match("joust (history|compare|merge)", text) else ():
            text = re.sub(rf"(?<=\s){said}(?=\s|$)", meant, text)
        text = self.with_addresses(text, folder, servers, addresses)
        done = self.bash(prelude + text, folder)
        if "--search" in text:
            return self.assertIn("Connection refused", done.stdout, f"{command}\n{text}")
        allowed = (0, 99) if "--fail-below" in text else (0,)
        if re.match("joust compare", text):
            allowed += (3,)  # of races as short as these, with others beside them, the limit is not known
        self.assertIn(done.returncode, allowed, f"{command}\n{text}\n{done.stdout[-2000:]}\n{done.stderr}")

    def bash(self, text, folder):
        path = os.pathsep.join((str(folder / "bin"), BUILD, os.environ["PATH"]))
        environment = os.environ | {"PATH": path, "XDG_STATE_HOME": str(folder / "state"),
                                    "C_INCLUDE_PATH": str(folder / "include"),
                                    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run(["bash", "-o", "pipefail", "-c", text], cwd=folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=False)

    def with_addresses(self, text, folder, servers, addresses):
        """The command with the addresses of servers that run: those of the block, or one for the protocol."""
        if not re.match(r"(joust (load|send|get|list)|curl|aria2c|tar)\b", text):
            return text
        if "--search" in text:
            return re.sub(ADDRESS, "127.0.0.1:1", text)  # a search takes long: its words are read, no more
        found = re.search(ADDRESS, text)
        if found is None:
            return text
        tls = re.search(r"(https|wss)://| --tls ", text) is not None
        address = None if tls else addresses.get(found.group()) or addresses.get("0.0.0.0:9000")
        if address is None and re.match(r"joust (send|get|list)\b", text):  # its server is in another block
            receive = f"joust receive --into incoming --listen {found.group()}"
            address = addresses[found.group()] = servers.enter_context(Started(receive, folder))
        if address is None:
            address = self.server_for(text, servers)
        if tls:
            address = TlsFront(address, folder).address
        return re.sub(ADDRESS, address, text)

    def server_for(self, text, servers):
        """The address of a server for a load that comes without one."""
        if re.search(r"https?://|-p http\b", text):
            pages = PageServer(("127.0.0.1", 0), Pages)
            threading.Thread(target=pages.serve_forever, daemon=True).start()
            servers.callback(pages.server_close)
            servers.callback(pages.shutdown)
            return f"127.0.0.1:{pages.server_port}"
        named = re.search(r"-p (\S+)", text)
        protocol = named.group(1) if named else "websocket"
        options = ("--framing", "websocket") if protocol == "broadcast" and "ws://" in text else ()
        protocol = {"script": "resp"}.get(protocol, protocol)
        return servers.enter_context(Server("-e", "epoll", "-p", protocol, *options)).address


class Started(Server):
    """A server of a document, on a free port. Its value is its address."""

    def __init__(self, text, folder):
        words = text.split()
        at = words.index("--listen") + 1
        words[at] = words[at].rsplit(":", 1)[0] + ":0"
        events = ["--events"] if words[1] == "receive" else []
        super().__init__()
        self.command = ["env", "-C", str(folder), JOUST, *words[1:], *events]

    def __enter__(self):
        super().__enter__()
        return "127.0.0.1:" + self.address.rsplit(":", 1)[1]

    def __exit__(self, *error):
        super().__exit__(*error)
        assert self.process.returncode in (0, -signal.SIGTERM), self.command


if __name__ == "__main__":
    unittest.main()
