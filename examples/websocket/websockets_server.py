# SPDX-License-Identifier: MIT
"""Echo, or a room in which every message goes to all, with the package websockets of Python.

    python3 websockets_server.py echo|room PORT

Echo waits for a connection that reads slowly. In a room a slow member is not waited for.
"""

import asyncio
import sys

import websockets

members = set()


async def echo(connection, _path=None):
    async for message in connection:
        await connection.send(message)


async def room(connection, _path=None):
    members.add(connection)
    try:
        async for message in connection:
            websockets.broadcast(members, message)
    finally:
        members.discard(connection)


async def serve(service, port):
    async with websockets.serve({"echo": echo, "room": room}[service], "127.0.0.1", port, compression=None,
                                max_size=2 << 20, backlog=4096):
        await asyncio.get_running_loop().create_future()


asyncio.run(serve(sys.argv[1], int(sys.argv[2])))
