#!/bin/sh
# Prepares what the test of a whole setup.bat needs: the packages of this checkout for Windows, in
# node_modules/.cache/svc/wine-store. 600 MB and half a minute. Needs the registry; the test does not.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
checkout=$(CDPATH='' cd -- "$here/../../../.." && pwd)
store=$checkout/node_modules/.cache/svc/wine-store
rm -rf "$store"
mkdir -p "$store"
cd "$checkout"
git ls-files -z -- package.json '*/package.json' pnpm-lock.yaml pnpm-workspace.yaml .pnpmfile.mjs .npmrc patches |
  xargs -0 cp --parents -t "$store"
# One folder instead of links: wine shows a link as the folder that it leads to, which esbuild takes for another one.
cat >>"$store/pnpm-workspace.yaml" <<'YAML'

nodeLinker: hoisted
supportedArchitectures:
  os: [win32]
  cpu: [x64]
YAML
(cd "$store" && "$checkout/node_modules/.bin/pnpm" install --frozen-lockfile --prod --optional --ignore-scripts)
# The bill of materials reads the page's own packages.
cd "$store/apps/dashboard"
node -e '
  const fs = require("node:fs"), path = require("node:path");
  for (const name of Object.keys(require("./package.json").dependencies)) {
    const link = path.join("node_modules", name);
    if (fs.existsSync(link)) continue;
    fs.mkdirSync(path.dirname(link), { recursive: true });
    fs.symlinkSync(path.relative(path.dirname(link), path.join("../../node_modules", name)), link);
  }'
sha256sum "$checkout/pnpm-lock.yaml" | cut -d' ' -f1 >"$store/.ready"
echo "wine: the packages for Windows are in $store"
