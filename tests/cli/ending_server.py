# SPDX-License-Identifier: MIT
"""ending_server.py ADDRESS REPLIES HOW: an HTTP server that ends each connection after so many replies.

ADDRESS is a port of 127.0.0.1 or the path of a unix socket. It ends by itself after two minutes."""

import os
import signal
import socket
import struct
import sys
import threading

BODY = b"Hello, World!"
SIZED = b"Content-Length: 13\r\n\r\n" + BODY
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nHello\r\n8\r\n, World!\r\n0\r\nT: x\r\n\r\n"

# What the replies of each kind begin with, the last one of a connection, and what follows it.
KINDS = {
    "close": (b"HTTP/1.1 200 OK\r\n" + SIZED, b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + SIZED),
    "reset": (b"HTTP/1.1 200 OK\r\n" + SIZED, b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + SIZED),
    "goes-on": (b"HTTP/1.1 200 OK\r\n" + SIZED,
                b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + SIZED + b"and more"),
    "http-1.0": (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + SIZED, b"HTTP/1.0 200 OK\r\n" + SIZED),
    "no-length": (b"HTTP/1.1 200 OK\r\n" + SIZED, b"HTTP/1.1 200 OK\r\n\r\n" + BODY),
    "chunked": (b"HTTP/1.1 200 OK\r\n" + CHUNKED, b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + CHUNKED),
    "hints": (b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n" + SIZED,
              b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n" + SIZED),
    "silently": (b"HTTP/1.1 200 OK\r\n" + SIZED, b"HTTP/1.1 200 OK\r\n" + SIZED),
}


def serve(client, replies, how):
    usual, last = KINDS[how]
    asked = b""
    try:
        while replies > 0:
            while b"\r\n\r\n" not in asked:
                piece = client.recv(65536)
                if not piece:
                    return
                asked += piece
            asked = asked.partition(b"\r\n\r\n")[2]
            replies -= 1
            client.sendall(usual if replies > 0 else last)
        if how == "goes-on":  # the other side is to end it
            while client.recv(65536):
                pass
        if how == "reset":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif how != "goes-on":  # as servers do that have requests unread: they would reset the connection
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass
    except OSError:
        pass
    finally:
        client.close()


def listen(address):
    if not address.isdigit():
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
    else:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", int(address)))
    listener.listen(1000)
    return listener


def main():
    signal.alarm(120)
    address, replies, how = sys.argv[1:]
    listener = listen(address)
    print(f"127.0.0.1:{listener.getsockname()[1]}" if address.isdigit() else f"unix:{address}", flush=True)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, int(replies), how), daemon=True).start()


if __name__ == "__main__":
    main()
