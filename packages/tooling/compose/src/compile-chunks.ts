/**
 * `node compile-chunks.ts <chunks> <out> [chunk …]`: writes the code that V8 makes of each chunk, under the chunk's name; that of the named
 * ones with all their functions. A process of its own: the Node that the binary is made of runs it, with a fixed seed, so that the same
 * chunks give the same bytes.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import * as vm from "node:vm";

/** @types/node lacks `createCachedData`. */
const { SourceTextModule } = vm as unknown as {
  readonly SourceTextModule: new (source: string, options: { identifier: string }) => { createCachedData(): Buffer };
};

const [, , chunks, out, ...whole] = process.argv as [string, string, string, string, ...string[]];
mkdirSync(out);
for (const name of readdirSync(chunks)
  .filter((each) => each.endsWith(".js"))
  .sort()) {
  if (whole.includes(name)) setFlagsFromString("--no-lazy");
  const module = new SourceTextModule(readFileSync(join(chunks, name), "utf8"), { identifier: name });
  // V8 writes the flags into the code, and takes it only under the same ones.
  setFlagsFromString("--lazy");
  writeFileSync(join(out, name), module.createCachedData());
}
