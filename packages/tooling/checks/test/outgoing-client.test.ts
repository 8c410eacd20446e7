// A second way out of the process is one that reaches the metadata address of the machine it runs on.
import { describe, expect, test } from "vitest";
import { outgoingClient } from "../src/checks/outgoing-client.ts";
import { judge } from "./judge.ts";

const file = "packages/features/tool-a/src/a.ts";
const found = (text: string, where = file): string[] => judge(outgoingClient, { [where]: text });

describe("a way around the guard fails", () => {
  test.each([
    'await fetch("https://x");',
    "await globalThis.fetch(url);",
    'await globalThis["fetch"](url);',
    "const go = fetch; await go(url);",
    "const client = { fetch: fetch };",
    "retry(fetch, url);",
    "new WebSocket(url);",
    'import { request } from "undici";',
    'import { connect } from "node:net";',
    'import https from "https";',
    'const { request } = await import("node:http");',
    'import { lookup } from "node:dns/promises";',
    'import axios from "axios/dist/x";',
  ])("%s", (text) => {
    expect(found(`\n${text}`)).toHaveLength(1);
    expect(found(`\n${text}`)[0]).toMatch(
      /^packages\/features\/tool-a\/src\/a\.ts:2 .* opens connections without the guard\.$/,
    );
  });

  test("in the agent's tools too", () => {
    expect(found("await fetch(url);", "packages/core/agent/src/tools/x.ts")).toHaveLength(1);
  });
});

describe("what passes", () => {
  test.each([
    "await context.fetch(url);",
    "export const run = (input, { fetch }) => fetch(input.url);",
    "const { fetch } = context; await fetch(url);",
    'import type { Agent } from "undici";',
    "interface Context { fetch(url: string): Promise<void> }",
  ])("%s", (text) => {
    expect(found(text)).toEqual([]);
  });

  test("the gateway serves, and the model's client calls the operator's own address", () => {
    expect(found('import { createServer } from "node:http";', "packages/core/gateway/src/server.ts")).toEqual([]);
    expect(found("await fetch(url);", "packages/core/agent/src/models/openai.ts")).toEqual([]);
  });
});
