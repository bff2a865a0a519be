#!/bin/sh
# SPDX-License-Identifier: MIT
# apache.sh PORT: Apache's event MPM with one process of 128 threads, which answers / with a file that has
# the text `joust serve -p http` answers with: it has no texts in its configuration. It closes idle
# connections when all threads are busy, so it has more of them than the race has connections. Everything it
# needs is in a folder of its own, which is removed when it ends.
set -eu
if [ $# -lt 1 ]; then
  echo "the port is missing; usage: apache.sh PORT" >&2
  exit 2
fi
PATH="$PATH:/usr/local/sbin:/usr/sbin"
modules=/usr/lib/apache2/modules
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/root"
printf 'Hello, World!' >"$folder/root/index.txt"
chmod -R a+rX "$folder"
# Where root starts it, its processes run as nobody.
user=''
if [ "$(id -u)" = 0 ]; then user='User #65534
Group #65534'; fi
{
  for module in mpm_event authz_core dir mime unixd; do
    # Some of them are part of the program on some systems.
    [ ! -e "$modules/mod_$module.so" ] || echo "LoadModule ${module}_module $modules/mod_$module.so"
  done
  cat <<END
$user
ServerRoot $folder
ServerName localhost
PidFile $folder/pid
DefaultRuntimeDir $folder
ErrorLog $folder/errors
LogLevel error
Listen 127.0.0.1:$1
ListenBacklog 4096
DocumentRoot $folder/root
DirectoryIndex index.txt
TypesConfig /dev/null
AddType text/plain .txt
FileETag None
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 3600
StartServers 1
ServerLimit 1
ThreadsPerChild 128
ThreadLimit 128
MaxRequestWorkers 128
<Directory $folder/root>
  AllowOverride None
</Directory>
END
} >"$folder/apache.conf"
apache2 -D FOREGROUND -f "$folder/apache.conf" &
trap 'kill $!; wait $! || true; exit 0' TERM INT
wait $!
