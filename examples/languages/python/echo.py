# SPDX-License-Identifier: MIT
"""Echo with the streams of asyncio: echo.py PORT [uvloop].

The same page runs on the loop of asyncio and on that of uvloop. Both set TCP_NODELAY by themselves. A reply
is waited for (drain) before the next read, so a slow peer slows down its own connection only.

Left out on purpose: limits, deadlines, logging, an orderly stop. asyncio.Protocol, with callbacks in place
of streams, is faster and is written less.
"""

import asyncio
import sys


async def echo(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass  # a peer that resets ends its own connection only
    finally:
        writer.close()


async def main(port):
    server = await asyncio.start_server(echo, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


def loop_factory():
    if sys.argv[2:] != ["uvloop"]:
        return None
    import uvloop

    return uvloop.new_event_loop


with asyncio.Runner(loop_factory=loop_factory()) as runner:
    runner.run(main(int(sys.argv[1])))
