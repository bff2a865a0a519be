#!/bin/sh
# SPDX-License-Identifier: MIT
# nginx.sh PORT [ROOT [ADDRESS]]: nginx with one worker, which answers / with the text that `joust serve -p http`
# answers with; or with a worker for each core, which serves the files of ROOT. It listens on ADDRESS
# [127.0.0.1]. Everything it needs is in a folder of its own, which is removed when it ends.
set -eu
if [ $# -lt 1 ]; then
  echo "the port is missing; usage: nginx.sh PORT [ROOT [ADDRESS]]" >&2
  exit 2
fi
workers=1
location='location = / { return 200 "Hello, World!"; }'
if [ $# -gt 1 ]; then
  workers=auto
  location="location / { root $2; tcp_nopush on; }"
fi
# The workers of root would be nobody, who may not read the folders of a race.
user=''
if [ "$(id -u)" = 0 ]; then user='user root;'; fi
PATH="$PATH:/usr/local/sbin:/usr/sbin"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/nginx.conf" <<END
$user
daemon off;
worker_processes $workers;
pid $folder/nginx.pid;
error_log stderr error;
worker_rlimit_nofile 20000;
events { worker_connections 16000; multi_accept on; }
http {
  access_log off;
  sendfile on;
  tcp_nodelay on;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  default_type text/plain;
  client_body_temp_path $folder/body;
  proxy_temp_path $folder/proxy;
  fastcgi_temp_path $folder/fastcgi;
  uwsgi_temp_path $folder/uwsgi;
  scgi_temp_path $folder/scgi;
  server {
    listen ${3:-127.0.0.1}:$1 backlog=4096 reuseport;
    $location
  }
}
END
nginx -p "$folder" -e stderr -c "$folder/nginx.conf" &
trap 'kill $!; wait $! || true; exit 0' TERM INT
wait $!
