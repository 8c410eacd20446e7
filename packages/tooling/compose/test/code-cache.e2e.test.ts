// The code that a binary holds of its chunks: the same for the same chunks, and taken by V8 wherever the chunk lies.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Bundle } from "../src/bundle.ts";
import { codeCache } from "../src/code-cache.ts";

const SOURCE = `const table = { one: 1, two: 2, three: 3 };
export function value(name) { return (() => table[name] ?? "said by a function")(); }
export { value as default };
`;

/** @param outputs As the bundler records them. */
async function codeIn(folder: string, outputs: Record<string, unknown> = {}): Promise<readonly Buffer[]> {
  writeFileSync(join(folder, "first.js"), SOURCE);
  writeFileSync(join(folder, "second.js"), 'export * from "./first.js"; export const folder = import.meta.dirname;');
  writeFileSync(join(folder, "third.wasm"), "");
  const chunks = ["first.js", "second.js", "third.wasm"];
  const bundle = { dir: folder, chunks, metafile: { outputs } } as unknown as Bundle;
  const code = await codeCache(bundle, process.execPath);
  expect(Object.keys(code)).toEqual(["code-cache/first.js", "code-cache/second.js"]);
  return Object.values(code).map((file) => readFileSync(file));
}

/** Whether V8 takes the code of the folder's first chunk, in a process of its own with these flags. */
function isTaken(folder: string, ...flags: string[]): string {
  const program = `const { SourceTextModule } = require("node:vm"), fs = require("node:fs");
try {
  new SourceTextModule(fs.readFileSync("first.js", "utf8"), { cachedData: fs.readFileSync("code-cache/first.js"), identifier: "file:///elsewhere" });
  console.log("taken");
} catch (error) { console.log(error.code); }`;
  return execFileSync(process.execPath, ["--experimental-vm-modules", "--no-warnings", ...flags, "-e", program], {
    cwd: folder,
    encoding: "utf8",
  }).trim();
}

test("the code of chunks is the same from two folders, and V8 takes it under the flags of a start alone", async () => {
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), "svc-code-")));
  try {
    const [one, other] = [await codeIn(folders[0]!), await codeIn(folders[1]!)];
    expect(other.map((bytes) => bytes.toString("hex"))).toEqual(one.map((bytes) => bytes.toString("hex")));
    expect(one.every((bytes) => !bytes.includes(folders[0]!))).toBe(true);
    expect(isTaken(folders[0]!)).toBe("taken");
    expect(isTaken(folders[0]!, "--heap-growing-percent=100")).toBe("ERR_VM_MODULE_CACHED_DATA_REJECTED");
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
});

test("the code of a chunk that a start runs holds its functions, if most of it is of the core, and V8 takes it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-code-"));
  const holdsFunctions = async (
    core: number,
    library: number,
    entryPoint = "apps/svc/src/run.ts",
  ): Promise<boolean> => {
    const inputs = {
      "packages/core/kit/src/text.ts": { bytesInOutput: core },
      "node_modules/library/index.js": { bytesInOutput: library },
    };
    const outputs = {
      "dist/second.js": { entryPoint, inputs: {}, imports: [{ path: "dist/first.js", kind: "import-statement" }] },
      "dist/first.js": { inputs, imports: [] },
    };
    rmSync(join(folder, "code-cache"), { recursive: true, force: true });
    const [first] = await codeIn(folder, outputs);
    return first!.includes("said by a function");
  };
  try {
    expect(await holdsFunctions(20, 10)).toBe(true);
    expect(isTaken(folder)).toBe("taken");
    expect(await holdsFunctions(10, 20)).toBe(false);
    expect(await holdsFunctions(20, 10, "apps/svc/src/commands/audit.ts")).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
