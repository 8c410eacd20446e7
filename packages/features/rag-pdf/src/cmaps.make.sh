#!/bin/sh
# Makes cmaps.json: the predefined CMaps of Adobe, which PDFs in Chinese, Japanese and Korean name instead of bringing them along
# (ISO 32000-1, 9.7.5.2), as pdf.js packs them. Run it when unpdf moves to another pdf.js: sh cmaps.make.sh <version>
set -eu
version=${1:-6.1.200}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack "pdfjs-dist@$version" --silent > /dev/null
tar xzf pdfjs-dist-*.tgz package/cmaps
node -e '
  const { readFileSync, readdirSync, writeFileSync } = require("node:fs");
  const { brotliCompressSync, constants } = require("node:zlib");
  const names = readdirSync("package/cmaps").filter((name) => name.endsWith(".bcmap")).sort();
  const contents = names.map((name) => readFileSync(`package/cmaps/${name}`));
  const licence = readFileSync("package/cmaps/LICENSE", "latin1").replace(/^%%Copyright: ?/gm, "").replace(/^-+\s*/gm, "").trim();
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 11 };
  writeFileSync(process.argv[1], JSON.stringify({
    from: `pdfjs-dist ${process.argv[2]}`,
    licence,
    bytes: Object.fromEntries(names.map((name, at) => [name, contents[at].length])),
    brotli: brotliCompressSync(Buffer.concat(contents), { params }).toString("base64"),
  }, null, 2) + "\n");
' "$here/cmaps.json" "$version"
