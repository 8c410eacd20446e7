// A secret typed as an argument stands in `ps` and in the shell's history, and one in a config in every backup of it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary, type RunResult } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { atTerminal, needScript } from "./at-terminal.ts";
import { homeWith, post, startPaired } from "./daemon.ts";

const OLD = "sk-planted-old-0123456789";
const NEW = "sk-planted-new-0123456789";
const HOOK = "hook-planted-0123456789";

const secrets = (
  home: string,
  words: readonly string[],
  options: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<RunResult> => runBinary(["secrets", ...words], { home, ...options });

const configOf = (home: string): string => readFileSync(join(home, "config.toml"), "utf8");
const keyOf = (home: string): string => readFileSync(join(home, ".secret_key"), "utf8");

async function states(home: string, env: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
  const { stdout } = await secrets(home, ["list", "--json"], { env });
  expect(stdout).not.toMatch(/planted/);
  const { secrets: listed } = JSON.parse(stdout) as { secrets: { key: string; state: string }[] };
  return Object.fromEntries(listed.map(({ key, state }) => [key, state]));
}

describe("svc secrets set", () => {
  test("takes the value from a pipe, seals it, and the running daemon uses it from the next turn on", async () => {
    await using model = await fakeModelServer({ script: [{ text: "one" }, { text: "two" }] });
    const base = `provider = "openai-compatible"\nname = "m"\nbase_url = "${model.url}"`;
    using home = homeWith(`# mine\n[model]\n${base}\napi_key = "${OLD}" # from the provider\n`);
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    await post(daemon, token, "hi");
    const set = await secrets(home.path, ["set", "model.api_key"], { input: `${NEW}\n` });
    expect([set.code, set.stdout]).toEqual([0, "model.api_key is set, encrypted\nchanged: [model]\n"]);
    await post(daemon, token, "hi");
    expect(model.requests.map(({ headers }) => headers["authorization"])).toEqual([`Bearer ${OLD}`, `Bearer ${NEW}`]);
    expect(configOf(home.path)).toMatch(/^# mine\n[^]*api_key = "enc2:[0-9a-f]+" # from the provider$/m);
    expect(configOf(home.path) + daemon.output()).not.toContain("planted");
  });

  test("without a daemon says when it counts; a section that is not there is made", async () => {
    using home = homeWith("");
    const set = await secrets(home.path, ["set", "channels_config.webhook.secret"], { input: HOOK });
    expect(set.stdout).toContain("no daemon runs");
    await using daemon = await startBinary({ home: home.path });
    const token = await daemon.pair();
    expect((await post(daemon, token, "hi", { "X-Webhook-Secret": HOOK })).status).toBe(200);
  });

  test.for([
    [["set", "model.api_key", NEW], ""],
    [["set", "model.api_key", `--value=${NEW}`], ""],
    [["set", "model.api_key"], " \n"],
    [["set", "model.api_key"], ""],
    [["set", "model.name"], NEW],
    [["set", "model.api_kye"], NEW],
    [["set"], NEW],
  ] as const)("%j is refused, and neither said again nor written", async ([words, input]) => {
    using home = homeWith("[model]\n");
    const refused = await secrets(home.path, words, { input });
    expect([refused.code, refused.stdout]).toEqual([64, ""]);
    expect(refused.stderr).not.toContain("planted");
    expect(configOf(home.path)).toBe("[model]\n");
  });

  test("typed at a terminal it does not show; Ctrl-C changes nothing", async (context) => {
    needScript(context);
    using home = homeWith("[model]\n");
    const left = await atTerminal(home.path, "secrets set model.api_key", [["model.api_key", `${OLD}\u0003`]]);
    expect([left.code, configOf(home.path)]).toEqual([1, "[model]\n"]);
    const { code, screen } = await atTerminal(home.path, "secrets set model.api_key", [["model.api_key", `${NEW}\r`]]);
    expect([code, screen]).toEqual([0, expect.stringContaining("is set, encrypted")]);
    expect(left.screen + screen).not.toContain("planted");
  });

  test("a config that the daemon refuses is said to be written and not in force", async () => {
    using home = homeWith("");
    await using _ = await startBinary({ home: home.path });
    writeFileSync(join(home.path, "config.toml"), "[agent]\nmax_steps = true\n");
    const set = await secrets(home.path, ["set", "model.api_key"], { input: NEW });
    expect([set.code, set.stderr]).toEqual([78, expect.stringContaining("goes on as before")]);
    expect(set.stderr).not.toContain("planted");
  });
});

test("list tells how each is kept and never what it is; encrypt seals what is plain", async () => {
  using home = homeWith(
    `[secrets]\nencrypt = false\n[model]\napi_key = "${OLD}"\n[agents.helper.model]\nprovider = "openai"\nname = "m"\napi_key = "${OLD}"\n`,
  );
  expect(await states(home.path, { SVC__CHANNELS_CONFIG__WEBHOOK__SECRET: HOOK })).toMatchObject({
    "model.api_key": "plain",
    "agents.helper.model.api_key": "plain",
    "channels_config.webhook.secret": "environment",
    "channels_config.webhook.signing_secret": "unset",
  });
  const sealed = await secrets(home.path, ["encrypt"]);
  expect(sealed.stdout).toBe("encrypted: model.api_key, agents.helper.model.api_key\n");
  expect(configOf(home.path)).not.toContain("planted");
  expect(await states(home.path)).toMatchObject({ "model.api_key": "encrypted" });
  expect((await secrets(home.path, ["encrypt"])).stdout).toBe("no secret stands in plain text\n");
  writeFileSync(join(home.path, ".secret_key"), "0".repeat(64), { mode: 0o600 });
  expect(await states(home.path)).toMatchObject({ "model.api_key": "unreadable" });
});

describe("svc secrets rotate", () => {
  test("with a daemon: another key, the same secrets, twice at once too", async () => {
    using home = homeWith(`[channels_config.webhook]\nsecret = "${HOOK}"\n`);
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    const [before, sealed] = [keyOf(home.path), configOf(home.path)];
    const rotated = await Promise.all([secrets(home.path, ["rotate"]), secrets(home.path, ["rotate"])]);
    expect(rotated.map(({ code }) => code)).toEqual([0, 0]);
    expect(rotated[0]!.stdout).toContain("channels_config.webhook.secret");
    expect(keyOf(home.path)).not.toBe(before);
    expect(configOf(home.path)).not.toBe(sealed);
    expect((await post(daemon, token, "hi", { "X-Webhook-Secret": HOOK })).status).toBe(200);
    expect((await runBinary(["reload"], { home: home.path })).stdout).toBe("nothing changed\n");
  });

  test("without one: the next start reads all of it; a lost key is said and changes nothing", async () => {
    using home = homeWith("");
    await secrets(home.path, ["set", "channels_config.webhook.secret"], { input: HOOK });
    const before = keyOf(home.path);
    expect((await secrets(home.path, ["rotate"])).code).toBe(0);
    expect(keyOf(home.path)).not.toBe(before);
    expect((await runBinary(["config", "check"], { home: home.path })).code).toBe(0);
    writeFileSync(join(home.path, ".secret_key"), before, { mode: 0o600 });
    const config = configOf(home.path);
    const refused = await secrets(home.path, ["rotate"]);
    expect([refused.code, refused.stderr]).toEqual([78, expect.stringContaining("channels_config.webhook.secret")]);
    expect(configOf(home.path)).toBe(config);
  });

  test("not in a home that has no config", async () => {
    using home = temporaryHome();
    expect((await secrets(home.path, ["rotate"])).code).toBe(66);
  });
});
