# SPDX-License-Identifier: MIT
"""A server of echo, and a client that checks one, with the package websockets.

    websocket_peer.py serve PORT      until it is ended
    websocket_peer.py check URL       exit code 0 if every answer is right
"""

import asyncio
import sys

import websockets

MIB = 1 << 20


async def echo(connection, _path=None):
    async for message in connection:
        await connection.send(message)


async def serve(port):
    # A ping often, which a client must answer.
    async with websockets.serve(echo, "127.0.0.1", int(port), compression=None, ping_interval=0.1,
                                ping_timeout=20):
        await asyncio.sleep(600)


async def check(url):
    async with websockets.connect(url, max_size=2 * MIB) as connection:
        for message in ("hello", "gr\u00fc\u00dfe" * 1000, b"\0\xff" * 100_000, b"x" * MIB, "", b""):
            await connection.send(message)
            assert await connection.recv() == message
        await connection.send(["in ", "three ", "fragments"])
        assert await connection.recv() == "in three fragments"
        await (await connection.ping(b"a ping"))
        await connection.close(3001, "enough")
        assert connection.close_code == 3001, connection.close_code
    async with websockets.connect(url, max_size=2 * MIB) as connection:
        await connection.send(b"x" * (MIB + 1))
        try:
            await connection.recv()
        except websockets.ConnectionClosed:
            assert connection.close_code == 1009, connection.close_code
        else:
            raise AssertionError("a message beyond the limit was answered")


asyncio.run({"serve": serve, "check": check}[sys.argv[1]](sys.argv[2]))
