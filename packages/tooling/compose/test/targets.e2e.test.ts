// A build for another platform: an executable of that platform's format, the same bytes from two folders, without the features
// that the platform lacks. The platform's Node (25 to 60 MB) comes from the registry once, and no test fetches it.
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, readSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { requireReal } from "@svc/testkit/require-real";
import { describe, expect, test, type TestContext } from "vitest";
import { build, hostTarget, targetName, targetOf } from "../src/index.ts";
import { pageHashes, signedMachO } from "../src/sign-mach-o.ts";
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
          signature: target.os === "darwin" ? "ad hoc" : null,
        });
        if (target.os === "darwin") expectSigned(readFileSync(one.binary));
        if (name === "linux-arm64") expectToRun(context, one.binary);
      });
    }
  },
);

/** Read back by other code than wrote it, and hashed as the kernel does, page after page. */
function expectSigned(bytes: Buffer): void {
  const { offset, size } = signatureIn(bytes);
  expect(offset + size).toBe(bytes.length);
  const directory = directoryIn(bytes, offset);
  expect(directory).toMatchObject({ flags: 2, limit: offset, identifier: "svc", pageBits: 12 });
  expect(directory.hashes).toHaveLength(Math.ceil(offset / 4096));
  expect(pageHashes(bytes.subarray(0, offset)).map((hash) => hash.toString("hex"))).toEqual(directory.hashes);
}

function signatureIn(bytes: Buffer): { offset: number; size: number } {
  let at = 32;
  for (let left = bytes.readUInt32LE(16); left > 0; left -= 1) {
    if (bytes.readUInt32LE(at) === 0x1d)
      return { offset: bytes.readUInt32LE(at + 8), size: bytes.readUInt32LE(at + 12) };
    at += bytes.readUInt32LE(at + 4);
  }
  throw new Error("there is no signature");
}

/** Of a blob of blobs, the code directory, which is the first. */
function directoryIn(bytes: Buffer, offset: number) {
  const at = offset + bytes.readUInt32BE(offset + 16);
  const word = (index: number): number => bytes.readUInt32BE(at + index * 4);
  expect([bytes.readUInt32BE(offset), word(0)]).toEqual([0xfade0cc0, 0xfade0c02]);
  const first = at + word(4);
  const name = at + word(5);
  return {
    flags: word(3),
    limit: word(8),
    pageBits: bytes[at + 39],
    identifier: bytes.toString("latin1", name, bytes.indexOf(0, name)),
    hashes: Array.from({ length: word(7) }, (_, slot) =>
      bytes.toString("hex", first + slot * 32, first + slot * 32 + 32),
    ),
  };
}

test("hashes the pages of a program as Apple's own tool did", (context) => {
  const node = join(FETCHED, `${targetOf("darwin-arm64").nodePackage}-${VERSION}`, "bin/node");
  if (!existsSync(node)) {
    requireReal(context, {
      name: "Node of darwin-arm64",
      reason: "pnpm build --target darwin-arm64 fetches it once",
      tier: "B",
    });
  }
  const bytes = readFileSync(node);
  const { offset } = signatureIn(bytes);
  const { hashes, limit } = directoryIn(bytes, offset);
  expect(limit).toBe(offset);
  expect(pageHashes(bytes.subarray(0, limit)).map((hash) => hash.toString("hex"))).toEqual(hashes);
  expect(() => signedMachO(bytes)).toThrow("it has a signature");
});

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
