// A wrong key, name or address must be found by one command, before somebody's message finds it.
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { describe, expect, test } from "vitest";
import { homeWith } from "./daemon.ts";

const KEY = "sk-planted-0123456789";
const PRICE = "price = { input_per_million = 1000, output_per_million = 2000 }";

const modelAt = (url: string, more = ""): string =>
  `[model]\nprovider = "openai-compatible"\nname = "m"\nbase_url = "${url}"\napi_key = "${KEY}"\n${more}\n`;

const run = (home: string, ...words: string[]) => runBinary(["model", "test", ...words], { home });

describe("the model of the config", () => {
  test("that answers: exit 0, with what it took; a price nobody told is not shown as nothing", async () => {
    await using model = await fakeModelServer({ script: () => ({ text: "OK" }) });
    using priced = homeWith(modelAt(model.url, PRICE));
    const done = await run(priced.path);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(done.stdout).toMatch(
      /^m by openai-compatible: answered in \d+ ms\n {2}tokens {4}\d+ in, \d+ out\n {2}cost {6}\$\d/,
    );
    using unpriced = homeWith(modelAt(model.url));
    expect((await run(unpriced.path)).stdout).toContain("svc config set model.price.input_per_million");
    const report = JSON.parse((await run(unpriced.path, "--json")).stdout) as object;
    expect(report).toMatchObject({ agent: "default", ok: true, cost_usd: null, price_known: false, error: null });
    expect(JSON.stringify(model.requests.map(({ body }) => body["tools"] ?? null))).toBe("[null,null,null]");
  });

  test("that refuses or is not there: exit 69, and why, without the key", async () => {
    await using model = await fakeModelServer({ script: () => ({ status: 401, message: `bad key ${KEY}` }) });
    using refused = homeWith(modelAt(model.url));
    using absent = homeWith(modelAt("http://127.0.0.1:1/v1"));
    for (const [home, code] of [
      [refused.path, "MODEL_REFUSED"],
      [absent.path, "MODEL_UNREACHABLE"],
    ] as const) {
      const failed = await run(home);
      expect([failed.code, failed.stdout]).toEqual([69, expect.stringContaining(code)]);
      expect(failed.stdout + failed.stderr).not.toContain(KEY);
    }
    expect(model.requests).toHaveLength(1);
  });

  test("that may spend no more: exit 1, and the provider is not asked", async () => {
    await using model = await fakeModelServer({ script: () => ({ text: "OK" }) });
    using home = homeWith(`${modelAt(model.url, PRICE)}[agent]\nmax_cost_per_day = 0\n`);
    const failed = await run(home.path, "--json");
    expect([failed.code, JSON.parse(failed.stdout)]).toEqual([1, expect.objectContaining({ ok: false })]);
    expect(model.requests).toHaveLength(0);
  });
});

test("the model of a named agent, with a daemon; a name that is none is exit 64", async () => {
  await using model = await fakeModelServer({ script: () => ({ text: "OK" }) });
  const helper = `[agents.helper.model]\nprovider = "openai-compatible"\nname = "small"\nbase_url = "${model.url}"\n`;
  using home = homeWith(`[model]\nprovider = "builtin"\n${helper}`);
  await using _ = await startBinary({ home: home.path });
  expect((await run(home.path)).stdout).toContain("builtin by builtin");
  expect((await run(home.path, "--agent", "helper")).stdout).toContain("small by openai-compatible");
  expect(model.requests).toHaveLength(1);
  const unknown = await run(home.path, "--agent", "nobody");
  expect([unknown.code, unknown.stderr]).toEqual([64, expect.stringContaining("AGENT_UNKNOWN")]);
});

test("svc chat --agent talks to that agent", async () => {
  await using model = await fakeModelServer({ script: () => ({ text: "I am the helper" }) });
  const helper = `[agents.helper.model]\nprovider = "openai-compatible"\nname = "small"\nbase_url = "${model.url}"\n`;
  using home = homeWith(helper);
  const chat = (...words: string[]) => runBinary(["chat", "-m", "hello", ...words], { home: home.path });
  expect((await chat("--agent", "helper")).stdout).toBe("I am the helper\n");
  expect((await chat()).stdout).toContain("built-in model");
  expect((await chat("--agent", "nobody")).code).toBe(64);
});
