/** A copy of this checkout as it is on disk, with its packages: what the guide builds and changes must not be the real one. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

export const ROOT = join(import.meta.dirname, "../../../../..");

export async function copyCheckout(target: string): Promise<void> {
  const listing = execFileSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" });
  for (const file of listing.split("\0").filter((path) => path !== "" && existsSync(join(ROOT, path)))) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(join(ROOT, file), join(target, file));
  }
  execFileSync(join(ROOT, "node_modules/.bin/pnpm"), ["install", "--offline", "--frozen-lockfile"], {
    cwd: target,
    stdio: "pipe",
  });
  // By path: the bootstrap runs before any package is linked, so nobody depends on it.
  const stamp = pathToFileURL(join(ROOT, "packages/tooling/bootstrap/stamp.mjs")).href;
  const { writeStamp } = (await import(stamp)) as { writeStamp(checkout: string): void };
  writeStamp(target);
}
