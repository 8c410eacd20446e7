// Assembles plugin.wat to plugin.wasm, and writes its hash into plugin.toml: node build.mjs
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import openWabt from "wabt";

const file = (name) => fileURLToPath(new URL(name, import.meta.url));

const wabt = await openWabt();
const { buffer } = wabt.parseWat("plugin.wat", readFileSync(file("plugin.wat"), "utf8")).toBinary({});
writeFileSync(file("plugin.wasm"), buffer);

const hash = createHash("sha256").update(buffer).digest("hex");
const manifest = readFileSync(file("plugin.toml"), "utf8");
writeFileSync(file("plugin.toml"), manifest.replace(/^sha256 = ".*"$/m, `sha256 = "${hash}"`));
console.log(`plugin.wasm  ${hash}`);
