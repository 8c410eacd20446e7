#!/bin/sh
# Holds the mounts of one wine session until its input ends. Prints "ready" when programs can be run in it.
#   wine.sh <tree of packages/tooling/bootstrap/wine/prepare.sh> [<ro|rw> <folder> <name> ...]   each folder as Z:\win\<name>
set -eu
tree=$1
shift
export tree
# A mount and a process namespace of its own: all mounts vanish with it, and no process stays.
exec unshare --mount --pid --fork --kill-child sh -eu -c '
  mount --make-rprivate /
  mount -t proc proc "$tree/proc"
  mount --rbind /dev "$tree/dev"
  mount -t tmpfs tmpfs "$tree/tmp"
  run() {
    chroot "$tree" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp WINEPREFIX=/prefix WINEDEBUG=-all \
      WINEDLLOVERRIDES="mscoree,mshtml=" XDG_RUNTIME_DIR=/tmp "$@"
  }
  # The prefix (the drive C: and the registry) is made once; each session writes to a layer of its own above it.
  exec 9>"$tree/.prefix-lock"
  flock 9
  if [ ! -e "$tree/.prefix-ready" ]; then
    run wine cmd /c ver >/dev/null 2>&1
    run wineserver --wait
    touch "$tree/.prefix-ready"
  fi
  exec 9>&-
  mount -t tmpfs tmpfs "$tree/mnt"
  mkdir "$tree/mnt/upper" "$tree/mnt/work"
  mount -t overlay overlay -o "lowerdir=$tree/prefix,upperdir=$tree/mnt/upper,workdir=$tree/mnt/work" "$tree/prefix"
  mount -t tmpfs tmpfs "$tree/win"
  while [ $# -gt 0 ]; do
    mkdir "$tree/win/$3"
    mount --bind "$2" "$tree/win/$3"
    mount -o "remount,bind,$1" "$tree/win/$3"
    shift 3
  done
  echo ready
  cat >/dev/null
' wine "$@"
