// What a build for another platform fetches is compared with the lockfile, and a checkout on Windows or macOS installs from it: a
// tool whose programs it names for one platform is there for all five.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../checkout.mjs";

/** How packages spell the platforms. */
const PLATFORMS = {
  "linux-x64": /linux-(?:x64|64)(?:-gnu)?$/u,
  "linux-arm64": /linux-arm64(?:-gnu)?$/u,
  "win-x64": /(?<!dar)(?:win32|windows|win)-(?:x64|64)(?:-msvc)?$/u,
  "darwin-x64": /darwin-(?:x64|64)$/u,
  "darwin-arm64": /darwin-arm64$/u,
};

/** The registries that this was locked with have no programs of pnpm for them: there `npx pnpm` brings pnpm. */
const LACKING: Readonly<Record<string, readonly string[]>> = {
  "@pnpm/exe.": ["darwin-arm64", "darwin-x64", "win-x64"],
};

const ENTRY = /^ {2}'?((?:@[^/\s]+\/)?[^@'\s]+)@([^:'\s]+)'?:$/gmu;

test("the lockfile has the programs of every tool for all platforms", () => {
  const text = readFileSync(join(root, "pnpm-lock.yaml"), "utf8");
  const packages = text.slice(text.indexOf("\npackages:"), text.indexOf("\nsnapshots:"));
  /** By version: a tool may be there twice. */
  const tools = new Map<string, string[]>();
  for (const [, name = "", version = ""] of packages.matchAll(ENTRY)) {
    for (const [platform, suffix] of Object.entries(PLATFORMS)) {
      if (!suffix.test(name)) continue;
      const tool = `${name.replace(suffix, "").replace(/^node-bin-/u, "node-")} ${version}`;
      tools.set(tool, [...(tools.get(tool) ?? []), platform]);
    }
  }
  for (const tool of ["@esbuild/", "@koromix/koffi-", "@oxlint/binding-", "@rolldown/binding-", "@turbo/", "node-"]) {
    expect([...tools.keys()].map((key) => key.split(" ")[0])).toContain(tool);
  }
  for (const [tool, found] of tools) {
    const wanted = Object.keys(PLATFORMS).filter((platform) => !LACKING[tool.split(" ")[0] ?? ""]?.includes(platform));
    expect([tool, found.toSorted()]).toEqual([tool, wanted.toSorted()]);
  }
});
