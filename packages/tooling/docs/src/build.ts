/** Builds the site of docs/ into dist/docs: exit 0 when it is there, 1 for a dead link or anything else that is wrong. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "@svc/contract";
import { build } from "vitepress";

const DOCS = join(import.meta.dirname, "../../../../docs");

try {
  await build(DOCS);
} catch (error) {
  process.stderr.write(`The site could not be built: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = EXIT.failure;
} finally {
  // VitePress keeps it where a build fails.
  rmSync(join(DOCS, ".vitepress/.temp"), { recursive: true, force: true });
}
