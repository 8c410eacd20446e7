// Importing `node:http` reads its `WebSocket`, and with it Node loads a whole HTTP client at each start. A chunk reads what it uses.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtinImports, readBuiltins } from "../src/builtin-imports.ts";

let folder = "";
let count = 0;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "svc-builtin-"))));
afterAll(() => rmSync(folder, { recursive: true }));

async function bundled(source: string, minify: boolean): Promise<{ text: string; exported: Record<string, unknown> }> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: folder },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    logLevel: "silent",
    minifyWhitespace: minify,
    plugins: [builtinImports()],
  });
  const text = readBuiltins(outputFiles[0]!.text);
  const file = join(folder, `bundle-${(count += 1)}.mjs`);
  writeFileSync(file, text);
  return { text, exported: (await import(pathToFileURL(file).href)) as Record<string, unknown> };
}

const SOURCE = `
  import "node:events";
  import path from "path";
  import * as os from "node:os";
  import url, { fileURLToPath } from "node:url";
  import { default as whole, createServer, request as ask } from "node:http";
  import { readFile } from "fs/promises";
  export const here = new URL(import.meta.url).protocol;
  export const found = { path, os, url, fileURLToPath, whole, createServer, ask, readFile };
  export const named = 'import { x } from "node:fs";';
`;

test.each([true, false])(
  "each form of an import gives what Node exports (white space minified: %s)",
  async (minify) => {
    const { text, exported } = await bundled(SOURCE, minify);
    expect(text.replace(exported["named"] as string, "")).not.toMatch(/import[^.]*from\s*"/);
    const at = (name: string) => process.getBuiltinModule(name) as unknown as Record<string, unknown>;
    const { found } = exported as { found: Record<string, unknown> };
    expect(found["path"]).toBe(at("path"));
    expect(found["url"]).toBe(at("url"));
    expect(found["fileURLToPath"]).toBe(at("url")["fileURLToPath"]);
    expect(found["whole"]).toBe(at("http"));
    expect(found["createServer"]).toBe(at("http")["createServer"]);
    expect(found["ask"]).toBe(at("http")["request"]);
    expect(found["readFile"]).toBe(at("fs/promises")["readFile"]);
    expect((found["os"] as Record<string, unknown>)["cpus"]).toBe(at("os")["cpus"]);
    expect(exported["named"]).toBe('import { x } from "node:fs";');
  },
);

test("an import that nobody knows fails the build", () => {
  expect(() => readBuiltins('export * from "builtin:node:fs";')).toThrow("builtin-imports.ts does not know");
});
