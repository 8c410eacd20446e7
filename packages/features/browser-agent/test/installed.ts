/** The real program and a real Chromium, as this checkout and this machine have them. */
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MissingPart } from "@svc/testkit/require-real";

/** What `npm install -g agent-browser` links as `agent-browser`. */
export const agentBrowserPath: string = join(
  dirname(createRequire(import.meta.url).resolve("agent-browser/package.json")),
  "bin",
  "agent-browser.js",
);

export function missing(): MissingPart | undefined {
  try {
    accessSync(agentBrowserPath, constants.X_OK);
    accessSync("/usr/bin/chromium", constants.X_OK);
    return undefined;
  } catch {
    return { name: "chromium", reason: "apt-get install chromium" };
  }
}

/** The keeper as a process of its own, without a binary. */
export const keeperChild = (name: string): readonly [string, ...string[]] => [
  process.execPath,
  fileURLToPath(new URL(`./${name}-process.ts`, import.meta.url)),
];
