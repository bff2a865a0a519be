#!/bin/sh
# SPDX-License-Identifier: MIT
# lighttpd.sh PORT: lighttpd with one worker, which answers / with a file that has the text `joust serve -p
# http` answers with: it has no texts in its configuration. It has the file in its cache. Everything it
# needs is in a folder of its own, which is removed when it ends.
set -eu
if [ $# -lt 1 ]; then
  echo "the port is missing; usage: lighttpd.sh PORT" >&2
  exit 2
fi
PATH="$PATH:/usr/local/sbin:/usr/sbin"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf 'Hello, World!' >"$folder/index.txt"
cat >"$folder/lighttpd.conf" <<END
server.bind = "127.0.0.1"
server.port = $1
server.document-root = "$folder"
index-file.names = ("index.txt")
mimetype.assign = (".txt" => "text/plain")
server.max-fds = 16384
server.max-connections = 8000
server.listen-backlog = 4096
server.max-keep-alive-requests = 1000000000
server.max-keep-alive-idle = 3600
server.stat-cache-engine = "simple"
etag.use-inode = "disable"
etag.use-mtime = "disable"
etag.use-size = "disable"
server.modules = ()
END
lighttpd -D -f "$folder/lighttpd.conf" &
trap 'kill $!; wait $! || true; exit 0' TERM INT
wait $!
