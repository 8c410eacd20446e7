// JSON that a package asks for by a path of its own making travels in the bundle, and one that nobody named fails the build.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonByPath } from "../src/json-by-path.ts";

let folder = "";
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "svc-json-"))));
afterAll(() => rmSync(folder, { recursive: true }));

async function bundled(module: string): Promise<string> {
  const lib = join(folder, "playwright-core/lib");
  mkdirSync(lib, { recursive: true });
  writeFileSync(join(lib, "../browsers.json"), '{ "browsers": ["chromium-as-named"] }');
  writeFileSync(join(lib, "coreBundle.js"), module);
  const { outputFiles } = await build({
    entryPoints: [join(lib, "coreBundle.js")],
    bundle: true,
    write: false,
    platform: "node",
    logLevel: "silent",
    plugins: [jsonByPath()],
  });
  return outputFiles[0]!.text;
}

const asking = (name: string): string =>
  `module.exports = require(import_path7.default.join(packageRoot, ${JSON.stringify(name)}));`;

test("what is asked for is in the bundle, and no path is left", async () => {
  const text = await bundled(asking("browsers.json"));
  expect(text).toContain("chromium-as-named");
  expect(text).not.toContain("packageRoot");
});

test.each([
  ["another file", asking("secrets.json"), "secrets.json"],
  ["nothing any more", "module.exports = {};", "nothing"],
])("%s fails the build", async (_what, module, named) => {
  await expect(bundled(module)).rejects.toThrow(`it asks for ${named} by a path: see json-by-path.ts`);
});
