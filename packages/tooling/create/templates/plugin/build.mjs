// Compiles assembly/plugin.ts to plugin.wasm, and writes its hash into plugin.toml: node build.mjs
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { main } from "assemblyscript/asc";

const file = (name) => fileURLToPath(new URL(name, import.meta.url));

// As small as it gets, and no more of the language's own than is used.
const options = ["--runtime", "minimal", "--optimizeLevel", "3", "--shrinkLevel", "1"];
// From this folder on, wherever it is built: a path would be another module.
const { error } = await main(
  ["assembly/plugin.ts", "--outFile", "plugin.wasm", "--baseDir", file("."), ...options],
  process,
);
if (error) process.exit(1);

const hash = createHash("sha256")
  .update(readFileSync(file("plugin.wasm")))
  .digest("hex");
const manifest = readFileSync(file("plugin.toml"), "utf8");
writeFileSync(file("plugin.toml"), manifest.replace(/^sha256 = ".*"$/m, `sha256 = "${hash}"`));
console.log(`plugin.wasm  ${hash}`);
