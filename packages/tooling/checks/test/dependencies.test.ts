// A dependency that only hoisting provides breaks in the first install that hoists differently.
import { describe, expect, test } from "vitest";
import { dependencies } from "../src/checks/dependencies.ts";
import { judge, manifestFile } from "./judge.ts";

const root = { "package.json": manifestFile("root", { devDependencies: { vitest: "1.0.0" } }) };
const kit = (extra: Readonly<Record<string, unknown>>, files: Readonly<Record<string, string>>): string[] =>
  judge(dependencies, {
    ...root,
    "packages/core/kit/package.json": manifestFile("@svc/kit", extra),
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`packages/core/kit/${name}`, text])),
  });

describe("dependencies", () => {
  test("pass when package.json and imports agree", () => {
    const extra = { dependencies: { undici: "1" }, devDependencies: { "@svc/testkit": "1", "@types/x": "1" } };
    const files = {
      "src/a.ts": 'import { request } from "undici/lib"; import "./b.ts"; import "node:fs";',
      "test/a.test.ts": 'import { test } from "vitest"; import "@svc/testkit/fakes";',
    };
    expect(kit(extra, files)).toEqual([]);
  });

  test("a source may not import what only development installs", () => {
    expect(kit({ devDependencies: { undici: "1" } }, { "src/a.ts": '\nimport "undici";' })).toEqual([
      "packages/core/kit/src/a.ts:2 undici is imported but not in the package's dependencies.",
    ]);
  });

  test("a test may not import what nobody installs", () => {
    expect(kit({}, { "test/a.test.ts": 'import "nowhere";' })).toEqual([
      "packages/core/kit/test/a.test.ts:1 nowhere is imported but not in the package's dependencies or devDependencies.",
    ]);
  });

  test("an unused dependency fails, also one that only tests use", () => {
    const extra = { dependencies: { left: "1", right: "1" } };
    expect(kit(extra, { "test/a.test.ts": 'import "right";' })).toEqual([
      "packages/core/kit/package.json:4 left is in dependencies but nothing in its sources imports it.",
      "packages/core/kit/package.json:5 right is in dependencies but nothing in its sources imports it.",
    ]);
    expect(kit({ devDependencies: { left: "1" } }, {})).toEqual([
      "packages/core/kit/package.json:4 left is in devDependencies but nothing in the package imports it.",
    ]);
  });

  test("packages that depend on each other fail, also by their tests and over a third one", () => {
    const uses = (name: string, group: string, on: string) => ({
      [`packages/core/${name}/package.json`]: manifestFile(`@svc/${name}`, { [group]: { [`@svc/${on}`]: "1" } }),
      [`packages/core/${name}/${group === "dependencies" ? "src" : "test"}/a.test.ts`]: `import "@svc/${on}";`,
      [`packages/core/${name}/src/a.ts`]: group === "dependencies" ? `import "@svc/${on}";` : "",
    });
    const files = {
      ...root,
      ...uses("kit", "devDependencies", "testkit"),
      ...uses("testkit", "dependencies", "runtime"),
      ...uses("runtime", "dependencies", "kit"),
      ...uses("app", "dependencies", "kit"),
    };
    expect(judge(dependencies, files)).toEqual([
      "packages/core/kit/package.json:4 @svc/kit depends on @svc/testkit, which depends on it.",
      "packages/core/runtime/package.json:4 @svc/runtime depends on @svc/kit, which depends on it.",
      "packages/core/testkit/package.json:4 @svc/testkit depends on @svc/runtime, which depends on it.",
    ]);
  });

  test("a program started by its path, or resolved by name, is used", () => {
    const extra = { dependencies: { tsup: "1", esbuild: "1" } };
    const files = { "src/a.ts": 'run(`${root}/node_modules/.bin/tsup`); require.resolve("esbuild/package.json");' };
    expect(kit(extra, files)).toEqual([]);
  });
});
