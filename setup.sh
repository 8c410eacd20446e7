#!/bin/sh
# Finds a Node to begin with (20 or newer) and hands over; see --help.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 70
for node in node nodejs "$here/node_modules/.bin/node"; do
  if "$node" -e 'process.exit(parseInt(process.versions.node, 10) >= 20 ? 0 : 1)' >/dev/null 2>&1; then
    exec "$node" "$here/packages/tooling/bootstrap/setup.mjs" "$@"
  fi
done
echo "setup: Node 20 or newer is needed to begin with, and none was found." >&2
echo "Install it from your system's packages (Debian, Ubuntu: apt-get install nodejs npm) or from the Node.js" >&2
echo "download page, check it with \"node --version\", and run this again." >&2
exit 69
