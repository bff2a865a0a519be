#!/bin/sh
# SPDX-License-Identifier: MIT
# caddy.sh PORT: Caddy on one core (GOMAXPROCS), which answers / with the text that `joust serve -p http`
# answers with. Everything it needs is in a folder of its own, which is removed when it ends.
set -eu
if [ $# -lt 1 ]; then
  echo "the port is missing; usage: caddy.sh PORT" >&2
  exit 2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/Caddyfile" <<END
{
  admin off
  auto_https off
  servers {
    timeouts {
      idle 1h
    }
  }
}
http://:$1 {
  bind 127.0.0.1
  header Content-Type text/plain
  respond / "Hello, World!"
  log {
    output discard
  }
}
END
export GOMAXPROCS=1 HOME="$folder" XDG_CONFIG_HOME="$folder" XDG_DATA_HOME="$folder"
caddy run --config "$folder/Caddyfile" --adapter caddyfile &
trap 'kill $!; wait $! || true; exit 0' TERM INT
wait $!
