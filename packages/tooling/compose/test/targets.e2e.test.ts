// A build for another platform: an executable of that platform's format, the same bytes from two folders, without the features
// that the platform lacks. The platform's Node (25 to 60 MB) comes from the registry once, and no test fetches it.
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { requireReal } from "@svc/testkit/require-real";
import { describe, expect, test, type TestContext } from "vitest";
import { build, hostTarget, targetName, targetOf } from "../src/index.ts";
import { workspaceRoot } from "../src/workspace.ts";
import { makeWorkspace, type Workspace } from "./fixture/workspace.ts";

const VERSION = "26.10.0";
const FETCHED = join(workspaceRoot, "node_modules/.cache/svc/fetched");

function smallWorkspace(nodePackage: string): Workspace {
  const small = makeWorkspace();
  small.profile("minimal", 'summary = ""\nfeatures = ["tool-a", "linux-only", "windows-only", "mac-only"]');
  small.feature("tool-a");
  small.feature("linux-only", { svc: { platforms: ["linux"] } });
  small.feature("windows-only", { svc: { platforms: ["win32"] } });
  small.feature("mac-only", { svc: { platforms: ["darwin"] } });
  small.write("package.json", JSON.stringify({ name: "small", optionalDependencies: { [nodePackage]: VERSION } }));
  symlinkSync(FETCHED, join(small.root, "node_modules/.cache/svc/fetched"));
  return small;
}

/** First bytes of an executable: ELF with its machine, PE, 64-bit Mach-O with its processor. darwin-x64 is made as darwin-arm64 is, and takes as long. */
const FORMATS = {
  "linux-x64": /^7f454c46.{28}3e00/,
  "linux-arm64": /^7f454c46.{28}b700/,
  "win-x64": /^4d5a/,
  "darwin-arm64": /^cffaedfe0c000001/,
};

const LACKING = {
  linux: ["mac-only", "windows-only"],
  win32: ["linux-only", "mac-only"],
  darwin: ["linux-only", "windows-only"],
};

const targets = (Object.keys(FORMATS) as (keyof typeof FORMATS)[]).filter((name) => name !== targetName(hostTarget()));

describe.skipIf(process.platform !== "linux")(
  "pnpm build --target",
  { meta: { skipReason: "is tried on Linux" } },
  () => {
    for (const name of targets) {
      test(`${name} is the same to the byte from two folders`, { timeout: 120_000 }, async (context) => {
        const target = targetOf(name);
        if (!existsSync(join(FETCHED, `${target.nodePackage}-${VERSION}`))) {
          const reason = `pnpm build minimal --target ${name} fetches it once`;
          requireReal(context, { name: `Node of ${name}`, reason, tier: "B" });
        }
        using first = smallWorkspace(target.nodePackage);
        using second = smallWorkspace(target.nodePackage);
        const [one, other] = await Promise.all(
          [first, second].map(({ root }) => build({ profile: "minimal", target, root })),
        );

        if (one === undefined || other === undefined) throw new Error("two builds have two results");
        expect(other.record).toEqual(one.record);
        expect(one.dir).toBe(join(first.root, "dist", `minimal-${name}`));
        expect(headOf(one.binary)).toMatch(FORMATS[name]);
        expect(one.record).toMatchObject({
          target: name,
          skipped: LACKING[target.os],
          binary: { file: target.os === "win32" ? "svc.exe" : "svc" },
          remaining: target.os === "darwin" ? ["sign it on macOS: codesign --force --sign - svc"] : [],
        });
        if (name === "linux-arm64") expectToRun(context, one.binary);
      });
    }
  },
);

/** Skips what can't be tried here: the bytes were compared before. */
function expectToRun(context: TestContext, binary: string): void {
  if (spawnSync(QEMU, ["--version"]).error !== undefined || !existsSync(ARM64_LIBRARIES)) {
    const reason = "apt-get install qemu-user-static libstdc++6-arm64-cross";
    requireReal(context, { name: "qemu for arm64", reason, tier: "B" });
  }
  const run = (...args: string[]) => spawnSync(QEMU, ["-L", ARM64_LIBRARIES, binary, ...args], { encoding: "utf8" });
  expect(run("--version")).toMatchObject({ status: 0, stdout: "svc 1.2.3 (unknown)\n" });
  expect(JSON.parse(run().stdout)).toMatchObject({
    profile: "minimal",
    said: [
      ["linux-only", expect.anything()],
      ["tool-a", expect.anything()],
    ],
  });
}

const QEMU = "qemu-aarch64-static";
const ARM64_LIBRARIES = "/usr/aarch64-linux-gnu";

function headOf(file: string): string {
  const bytes = Buffer.alloc(20);
  const handle = openSync(file, "r");
  readSync(handle, bytes);
  closeSync(handle);
  return bytes.toString("hex");
}
