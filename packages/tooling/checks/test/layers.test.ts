// The walls between packages: each of these imports once looked convenient and would have turned the layers into a ball.
import { describe, expect, test } from "vitest";
import { layers } from "../src/checks/layers.ts";
import { judge, manifestFile } from "./judge.ts";

const packages = {
  "packages/core/contract/package.json": manifestFile("@svc/contract"),
  "packages/core/kit/package.json": manifestFile("@svc/kit"),
  "packages/core/store/package.json": manifestFile("@svc/store"),
  "packages/core/agent/package.json": manifestFile("@svc/agent"),
  "packages/core/gateway/package.json": manifestFile("@svc/gateway"),
  "packages/features/tool-a/package.json": manifestFile("@svc/tool-a"),
  "packages/features/tool-b/package.json": manifestFile("@svc/tool-b"),
  "packages/tooling/testkit/package.json": manifestFile("@svc/testkit"),
  "apps/svc/package.json": manifestFile("@svc/app"),
};
const found = (file: string, text: string): string[] => judge(layers, { ...packages, [file]: text });

describe("imports that the drawing allows", () => {
  test.each([
    ["packages/core/kit/src/a.ts", 'import { x } from "@svc/contract";'],
    [
      "packages/core/agent/src/a.ts",
      'import type { x } from "@svc/store"; import { readFile } from "node:fs/promises";',
    ],
    ["packages/core/gateway/src/a.ts", 'import { Hono } from "hono"; import { serve } from "@hono/node-server";'],
    [
      "packages/features/tool-a/src/a.ts",
      'import * as v from "valibot"; import { x } from "@svc/kit"; import "./b.ts";',
    ],
    ["packages/features/tool-a/test/a.test.ts", 'import { toolConformance } from "@svc/testkit";'],
    ["apps/svc/src/main.ts", 'import { x } from "@svc/gateway";'],
    ["bench/run.ts", 'import { Hono } from "hono";'],
  ])("%s", (file, text) => {
    expect(found(file, text)).toEqual([]);
  });
});

describe("imports that break it", () => {
  test.each([
    ["packages/core/store/src/a.ts", 'import { x } from "@svc/agent";', "store may not import packages/core/agent."],
    ["packages/core/agent/src/a.ts", 'import "@svc/tool-a";', "agent may not import packages/features/tool-a."],
    ["packages/features/tool-a/src/a.ts", 'import "@svc/tool-b";', "features may not import packages/features/tool-b."],
    ["packages/features/tool-a/src/a.ts", 'import "@svc/agent";', "features may not import packages/core/agent."],
    [
      "packages/features/tool-a/src/a.ts",
      'import "@svc/testkit";',
      "features may not import packages/tooling/testkit.",
    ],
    ["packages/features/tool-a/src/a.ts", 'import "hono/tiny";', "Only gateway may import hono/tiny."],
    ["packages/features/tool-a/src/a.ts", 'import "@hono/node-server";', "Only gateway may import @hono/node-server."],
    ["packages/core/contract/src/a.ts", 'import { join } from "node:path";', "contract may not import node:path."],
    ["packages/core/agent/src/a.ts", 'export * from "@svc/gateway";', "agent may not import packages/core/gateway."],
    [
      "packages/core/agent/src/a.ts",
      'const x = await import("@svc/gateway");',
      "agent may not import packages/core/gateway.",
    ],
    [
      "packages/core/agent/src/a.ts",
      'type X = import("@svc/gateway").Y;',
      "agent may not import packages/core/gateway.",
    ],
    ["packages/core/agent/src/a.ts", 'import "../../gateway/src/x.ts";', "A relative import leaves its package."],
    ["packages/core/agent/src/a.ts", 'import "../../agent-two/src/x.ts";', "A relative import leaves its package."],
    ["packages/core/agent/src/a.ts", 'import "@svc/agent";', "A package imports itself by name."],
  ])("%s: %s", (file, text, message) => {
    expect(found(file, `\n${text}\n`)).toEqual([`${file}:2 ${message}`]);
  });

  test("a comment or a string that looks like an import is none", () => {
    expect(found("packages/core/kit/src/a.ts", '// import "@svc/agent"\nconst x = \'import "@svc/agent"\';')).toEqual(
      [],
    );
  });
});
