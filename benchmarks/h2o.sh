#!/bin/sh
# SPDX-License-Identifier: MIT
# h2o.sh PORT: h2o with one thread, which answers / with a file that has the text `joust serve -p http`
# answers with: it has no texts in its configuration. It keeps the file open. Everything it needs is in a
# folder of its own, which is removed when it ends.
set -eu
if [ $# -lt 1 ]; then
  echo "the port is missing; usage: h2o.sh PORT" >&2
  exit 2
fi
PATH="$PATH:/usr/local/sbin:/usr/sbin"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/root"
printf 'Hello, World!' >"$folder/root/index.txt"
# Its workers would be nobody where root starts it, who may not read the folder.
user=''
if [ "$(id -u)" = 0 ]; then user='user: root'; fi
cat >"$folder/h2o.conf" <<END
$user
num-threads: 1
max-connections: 10000
http1-request-timeout: 3600
listen:
  host: 127.0.0.1
  port: $1
hosts:
  default:
    paths:
      /:
        file.dir: $folder/root
        file.index: [index.txt]
        file.etag: OFF
        file.send-gzip: OFF
END
h2o -c "$folder/h2o.conf" &
trap 'kill $!; wait $! || true; exit 0' TERM INT
wait $!
