# SPDX-License-Identifier: MIT
"""One text over HTTP with aiohttp: plaintext.py PORT [uvloop].

The same page runs on the loop of asyncio and on that of uvloop. aiohttp sets TCP_NODELAY by itself, and
adds the fields Date, Server and Content-Length. Connections are kept longer than is usual, because those of
a race pause while others work.

Left out on purpose: logging, an orderly stop, other paths, worker processes.
"""

import asyncio
import sys

from aiohttp import web


async def text(_):
    return web.Response(body=b"Hello, World!", content_type="text/plain")


def new_loop():
    if sys.argv[2:] != ["uvloop"]:
        return asyncio.new_event_loop()
    import uvloop

    return uvloop.new_event_loop()


app = web.Application()
app.router.add_get("/", text)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), loop=new_loop(), access_log=None, print=None,
            backlog=4096, keepalive_timeout=3600)
