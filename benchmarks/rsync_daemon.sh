#!/bin/sh
# SPDX-License-Identifier: MIT
# rsync_daemon.sh PORT ROOT [ADDRESS]: a daemon of rsync on ADDRESS [127.0.0.1], which gives the files of ROOT as
# the module "files". Its configuration is in a folder of its own, which is removed when it ends.
set -eu
if [ $# -lt 2 ]; then
  echo "the port, or the folder, is missing; usage: rsync_daemon.sh PORT ROOT [ADDRESS]" >&2
  exit 2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# A daemon of root would be nobody, who may not read the folders of a race.
user=''
if [ "$(id -u)" = 0 ]; then user='uid = root
gid = root'; fi
cat >"$folder/rsyncd.conf" <<END
use chroot = no
reverse lookup = no
log file = /dev/null
$user
[files]
path = $2
read only = yes
END
rsync --daemon --no-detach --address="${3:-127.0.0.1}" --port="$1" --config="$folder/rsyncd.conf" &
trap 'kill $!; wait $! || true; exit 0' TERM INT
wait $!
