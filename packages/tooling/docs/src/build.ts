/**
 * Builds the site of docs/ into dist/docs. Exit 0 when it is there; 1 for a dead link, a page that would load something from
 * elsewhere, or anything else that is wrong.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "@svc/contract";
import { build } from "vitepress";
import { requestsElsewhere } from "./site/requests.ts";

const ROOT = join(import.meta.dirname, "../../../..");

// VitePress looks for a part of Vue from there: from elsewhere the same build fails.
process.chdir(ROOT);

try {
  await build(join(ROOT, "docs"));
  const elsewhere = requestsElsewhere(join(ROOT, "dist/docs"));
  if (elsewhere.length > 0) throw new Error(`pages load from elsewhere:\n  ${elsewhere.join("\n  ")}`);
} catch (error) {
  process.stderr.write(`The site could not be built: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = EXIT.failure;
} finally {
  // VitePress leaves it where a build fails.
  rmSync(join(ROOT, "docs/.vitepress/.temp"), { recursive: true, force: true });
}
