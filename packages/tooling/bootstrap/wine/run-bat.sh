#!/bin/sh
# Runs one batch file of a checkout under wine and prints what it printed; the exit code is the batch file's own.
#   run-bat.sh <tree of prepare.sh> <checkout> <batch file> [arguments]
# With SVC_WINE_WITHOUT_NODE=1 there is no node on PATH.
set -eu
tree=$1
export SVC_TREE="$tree" SVC_CHECKOUT="$2" SVC_BAT="$3"
shift 3
# A mount namespace of its own: the checkout is read-only in there, and every mount vanishes with it.
exec unshare --mount --pid --fork --kill-child sh -eu -c '
  mount --make-rprivate /
  mount -t proc proc "$SVC_TREE/proc"
  mount --rbind /dev "$SVC_TREE/dev"
  mount --bind "$SVC_CHECKOUT" "$SVC_TREE/win/checkout"
  mount -o remount,bind,ro "$SVC_TREE/win/checkout"
  mount -t tmpfs tmpfs "$SVC_TREE/tmp"
  node="Z:\\win"
  [ "${SVC_WINE_WITHOUT_NODE:-}" != 1 ] || node="Z:\\nowhere"
  status=0
  # Output to a file: a pipe gives node.exe "open EBADF".
  chroot "$SVC_TREE" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root WINEPREFIX=/root/prefix WINEDEBUG=-all \
    WINEDLLOVERRIDES="mscoree,mshtml=" WINEPATH="$node" XDG_RUNTIME_DIR=/tmp \
    /bin/sh -c "cd /tmp && wine cmd /c \"Z:\\\\win\\\\checkout\\\\$SVC_BAT $* > Z:\\\\tmp\\\\out.txt 2>&1\"" >/dev/null 2>&1 || status=$?
  cat "$SVC_TREE/tmp/out.txt"
  exit "$status"
' run-bat "$@"
