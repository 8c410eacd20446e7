/**
 * `node compile-chunks.ts <chunks> <out>`: writes the code that V8 makes of each chunk, under the chunk's name. A process of its own:
 * the Node that the binary is made of runs it, with a fixed seed, so that the same chunks give the same bytes.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vm from "node:vm";

/** @types/node lacks `createCachedData`. */
const { SourceTextModule } = vm as unknown as {
  readonly SourceTextModule: new (source: string, options: { identifier: string }) => { createCachedData(): Buffer };
};

const [, , chunks, out] = process.argv as [string, string, string, string];
mkdirSync(out);
for (const name of readdirSync(chunks)
  .filter((each) => each.endsWith(".js"))
  .sort()) {
  const module = new SourceTextModule(readFileSync(join(chunks, name), "utf8"), { identifier: name });
  writeFileSync(join(out, name), module.createCachedData());
}
