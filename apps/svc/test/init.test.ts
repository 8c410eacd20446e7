// svc init writes a config once, at the end, that loads, with its secrets sealed; whoever leaves before has written nothing.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary, type RunResult } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { atTerminal, needScript } from "./at-terminal.ts";
import { post } from "./daemon.ts";

const KEY = "sk-planted-0123456789abcdef";

interface InitOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const init = (home: string, words: readonly string[], options: InitOptions = {}): Promise<RunResult> =>
  runBinary(["init", "--yes", ...words], { home, ...options });

const configOf = (home: string): string => readFileSync(join(home, "config.toml"), "utf8");

async function shown(home: string, env: Readonly<Record<string, string>> = {}): Promise<unknown> {
  return JSON.parse((await runBinary(["config", "show"], { home, env })).stdout);
}

describe("without a terminal", () => {
  test("--yes alone writes what a first start writes: no secret, so that the lines it prints work as they are", async () => {
    using home = temporaryHome();
    using first = temporaryHome();
    expect((await init(home.path, [])).stdout).toBe(`wrote ${home.path}/config.toml\nNext: svc daemon\n`);
    await using _ = await startBinary({ home: first.path });
    expect(configOf(home.path)).toBe(configOf(first.path));
    expect(existsSync(join(home.path, ".secret_key"))).toBe(false);
  });

  test("every answer is an option; the key is sealed, and neither in the output nor plain in the file", async () => {
    using home = temporaryHome();
    writeFileSync(join(home.path, "key"), `${KEY}\n`);
    const options = ["--model", "openai", "--model-name", "m", "--api-key-file", join(home.path, "key")];
    const more = ["--price-input", "1.5", "--price-output", "6", "--public-url", "https://svc.example.org"];
    const done = await init(home.path, [...options, ...more, "--sandbox", "none", "--set", "agent.max_steps=7"]);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(done.stdout + configOf(home.path)).not.toContain(KEY);
    expect(configOf(home.path)).toMatch(/^api_key = "enc2:[0-9a-f]+"$/m);
    expect(statSync(join(home.path, "config.toml")).mode & 0o777).toBe(0o600);
    expect(await shown(home.path)).toMatchObject({
      gateway: { public_url: "https://svc.example.org" },
      model: { provider: "openai", api_key: "••••••••", price: { input_per_million: 1.5, output_per_million: 6 } },
      agent: { max_steps: 7 },
      security: { sandbox: { backend: "none" } },
    });
  });

  test("run again it changes what it is told and keeps the rest, comments too; the same once more changes nothing", async () => {
    using home = temporaryHome();
    writeFileSync(join(home.path, "key"), `${KEY}\n`);
    const mine =
      '# mine\n[model]\nprovider = "anthropic" # for now\nname = "old"\napi_key = "sk-of-the-old-one"\n\n[log]\nlevel = "warn" # quiet\n';
    writeFileSync(join(home.path, "config.toml"), mine, { mode: 0o600 });
    const options = ["--model", "openai", "--model-name", "m", "--api-key-file", join(home.path, "key")];
    const changed = await init(home.path, options);
    expect([changed.code, changed.stderr, changed.stdout]).toEqual([
      0,
      "",
      expect.stringContaining(`changed ${home.path}/config.toml`),
    ]);
    const text = configOf(home.path);
    expect(text).toMatch(/^# mine\n\[model\]\nprovider = "openai" # for now\n/);
    expect(text).toContain('[log]\nlevel = "warn" # quiet\n');
    expect(text + changed.stdout).not.toMatch(new RegExp(`${KEY}|sk-of-the-old-one|"old"`));
    expect(await shown(home.path)).toMatchObject({ model: { provider: "openai", name: "m", api_key: "••••••••" } });
    const again = await init(home.path, ["--set", "log.level=warn"]);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("nothing to change in")]);
    expect(configOf(home.path)).toBe(text);
    const refused = await init(home.path, ["--set", "gateway.port=-1"]);
    expect([refused.code === 0, configOf(home.path)]).toEqual([false, text]);
  });

  test("a channel that is set up has a generated secret, shown once; the daemon asks for it", async () => {
    using home = temporaryHome();
    const { stdout } = await init(home.path, ["--channel", "webhook", "--json"]);
    const secret = (JSON.parse(stdout) as { generated: Record<string, string> }).generated[
      "channels_config.webhook.secret"
    ]!;
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(configOf(home.path)).not.toContain(secret);
    await using daemon = await startBinary({ home: home.path });
    const token = await daemon.pair();
    expect((await post(daemon, token, "hi")).body.code).toBe("BAD_WEBHOOK_SECRET");
    expect((await post(daemon, token, "hi", { "X-Webhook-Secret": secret })).status).toBe(200);
  });

  test("a channel without approvers is said to have none, with the command that adds an account", async () => {
    using home = temporaryHome();
    const { stdout } = await init(home.path, ["--channel", "telegram"], {
      env: { SVC__CHANNELS_CONFIG__TELEGRAM__BOT_TOKEN: "123456:token-of-the-test" },
    });
    expect(stdout).toContain("No account may answer approval requests in telegram");
    expect(stdout).toContain(`svc config set channels_config.telegram.approvers '["<account>"]'`);
    using webhook = temporaryHome();
    expect((await init(webhook.path, ["--channel", "webhook"])).stdout).not.toContain("approvers");
  });

  test("the key comes from standard input, or stays in the environment", async () => {
    using piped = temporaryHome();
    const options = ["--model", "anthropic", "--model-name", "m"];
    await init(piped.path, [...options, "--api-key-file", "-"], { input: KEY });
    expect(configOf(piped.path)).toContain('api_key = "enc2:');
    using kept = temporaryHome();
    const env = { SVC__MODEL__API_KEY: KEY };
    expect((await init(kept.path, options, { env })).stdout).toContain("SVC__MODEL__API_KEY");
    expect(configOf(kept.path)).toContain('# api_key = ""');
  });

  test.for([
    [["--model", "openai"], 64, /model\.name.*\n.*model\.api_key/],
    [["--model-name", "m"], 64, /--model\./],
    [["--public-url", "http://example.org"], 64, /https/],
    [["--public-url", "https://u:p@example.org"], 64, /gateway\.public_url/],
    [["--sandbox", "jial"], 64, /security\.sandbox\.backend/],
    [["--webhook-secret", "none"], 64, /--insecure/],
    [["--channel", "telegraph"], 64, /webhook, .*none/],
    [["--set", `model.api_key=${KEY}`], 64, /svc secrets set model\.api_key/],
    [["--set", "gateway.prot=1"], 64, /no key/],
    [["--model", "openai", "--model-name", "m", "--api-key-file", "/nowhere"], 64, /does not exist/],
    [
      ["--model", "openai-compatible", "--model-name", "m", "--base-url", "http://127.0.0.1:1", "--test-model"],
      69,
      /MODEL_UNREACHABLE/,
    ],
  ] as const)("%j is refused with exit %i, and nothing is written", async ([words, code, told]) => {
    using home = temporaryHome();
    const refused = await init(home.path, words);
    expect([refused.code, refused.stdout]).toEqual([code, ""]);
    expect(refused.stderr).toMatch(told);
    expect(refused.stderr).not.toContain(KEY);
    expect(readdirSync(home.path)).toEqual([]);
  });

  test("--service installs it as svc service install does, once the config is there", async () => {
    using home = temporaryHome();
    using user = temporaryHome();
    // With a path that leads to no service manager, so that the machine's own never hears of it.
    const env = { HOME: user.path, PATH: user.path, XDG_CONFIG_HOME: user.path };
    const done = await init(home.path, ["--service"], { env });
    expect(done.stdout).toMatch(/^wrote .*config\.toml\nwrote .*\.(service|plist)\n/);
    expect(done.stdout).toContain(user.path);
  });

  test("a variable that no config could live with is told before anything is written", async () => {
    using home = temporaryHome();
    const refused = await init(home.path, [], { env: { SVC__GATEWAY__PORT: "many" } });
    expect([refused.code, refused.stderr]).toEqual([78, expect.stringContaining("SVC__GATEWAY__PORT")]);
    expect(readdirSync(home.path)).toEqual([]);
  });
});

const ENTER = "\r";
const DOWN = "\u001b[B";
const UP = "\u001b[A";
const CLEAR = "\u0015";
/** Of the terminal of `script`, which has no width of its own. */
const LATER: readonly (readonly [string, string])[] = [
  // The last choice, however many channels there are.
  ["messages come from first?", `${UP}${ENTER}`],
  ["Public URL", ENTER],
  ["confines the agent", ENTER],
];

describe("at a terminal", () => {
  test("a model that does not answer can be corrected, and is tried again", async (context) => {
    needScript(context);
    await using model = await fakeModelServer({ script: [{ status: 401, message: "no" }, { text: "OK" }] });
    using home = temporaryHome();
    const { screen, code } = await atTerminal(home.path, "init", [
      ["Which model answers?", `${DOWN}${DOWN}${DOWN}${ENTER}`],
      ["Base URL", `not a url${ENTER}`],
      ["http://", `${CLEAR}${model.url}${ENTER}`],
      ["Name of the model", `local${ENTER}`],
      ["API key", `wrong${ENTER}`],
      ["million input tokens", `free${ENTER}`],
      ["must be a number", `${CLEAR}1${ENTER}`],
      ["million output tokens", `2${ENTER}`],
      ["Test the model now?", ENTER],
      ["What now?", ENTER],
      ["Which model answers?", ENTER],
      ["Base URL", ENTER],
      ["Name of the model", ENTER],
      ["keep the one you typed", `${KEY}${ENTER}`],
      ["million input tokens", ENTER],
      ["Test the model now?", ENTER],
      ["answered in", ""],
      ...LATER,
      ["Write ", ENTER],
      ["as a service", ENTER],
    ]);
    expect([code, screen]).toEqual([0, expect.stringContaining("Next: svc daemon")]);
    expect(screen).toContain("401");
    expect(screen).not.toContain(KEY);
    expect(model.requests.map(({ headers }) => headers["authorization"])).toEqual(["Bearer wrong", `Bearer ${KEY}`]);
    expect(await shown(home.path)).toMatchObject({ model: { base_url: model.url, name: "local" } });
    expect((await runBinary(["config", "check"], { home: home.path })).code).toBe(0);
  });

  test("what an option answers is not asked; the webhook's secret is made, and shown at the end", async (context) => {
    needScript(context);
    using home = temporaryHome();
    const { screen } = await atTerminal(home.path, "init --model builtin --sandbox auto", [
      ["messages come from first?", ENTER],
      ["channels_config.webhook.secret", ENTER],
      ["Public URL", `http://example.org${ENTER}`],
      ["must begin with https", `${CLEAR}https://svc.example.org${ENTER}`],
      ["Write ", ENTER],
      ["as a service", "\u0003"],
    ]);
    expect(screen).toContain("Next: svc daemon");
    expect(screen).not.toContain("Which model answers?");
    expect(screen).toMatch(/shown this once: [0-9a-f]{64}/);
    expect(configOf(home.path)).toMatch(/^secret = "enc2:/m);
    expect(configOf(home.path)).toContain('public_url = "https://svc.example.org"');
  });

  test("a blank webhook secret is only for --insecure", async (context) => {
    needScript(context);
    using home = temporaryHome();
    const { screen } = await atTerminal(home.path, "init --model builtin", [
      ["messages come from first?", ENTER],
      ["channels_config.webhook.secret", `${DOWN}${ENTER}`],
      ["typed unseen", ENTER],
      ["a blank secret is no secret", "\u0003"],
    ]);
    expect(screen).not.toContain("anyone who can reach the address");
    expect(readdirSync(home.path)).toEqual([]);
  });

  test("a channel of a platform is asked what its platform told; a secret that is not typed is missed", async (context) => {
    needScript(context);
    using home = temporaryHome();
    const key = "channels_config.provider_a";
    const { screen } = await atTerminal(home.path, "init --model builtin --sandbox auto", [
      ["messages come from first?", `${DOWN.repeat(await downTo("channel-provider-a"))}${ENTER}`],
      [`${key}.access_token`, `${KEY}${ENTER}`],
      [`${key}.phone_number_id`, `+15551234567${ENTER}`],
      ["which is not the phone number", `${CLEAR}106540352242922${ENTER}`],
      [`${key}.app_secret`, ENTER],
      ["a blank secret is no secret", `${KEY}${ENTER}`],
      [`${key}.verify_token`, ENTER],
      ["Public URL", ENTER],
      ["Write ", ENTER],
      ["as a service", "\u0003"],
    ]);
    expect(screen).toMatch(/shown this once: [0-9a-f]{64}/);
    expect(screen).not.toContain(KEY);
    expect(configOf(home.path).match(/^(?:access_token|app_secret|verify_token) = "enc2:/gm)).toHaveLength(3);
    expect((await runBinary(["config", "check"], { home: home.path })).code).toBe(0);
  });

  test.for([
    ["the first question", "Which model answers?", "\u0003"],
    ["the last one", "Write ", "\u0003"],
    ["the last one, by saying no", "Write ", `n`],
  ] as const)("who leaves at %s has written nothing", async ([_where, prompt, typed], context) => {
    needScript(context);
    using home = temporaryHome();
    const before = prompt === "Write " ? ([["Which model answers?", ENTER], ...LATER] as const) : [];
    const { screen, code } = await atTerminal(home.path, "init", [...before, [prompt, typed]]);
    expect([code, screen]).toEqual([1, expect.stringContaining("CANCELLED")]);
    expect(screen).not.toMatch(/\n\s+at /);
    expect(readdirSync(home.path)).toEqual([]);
  });

  test("questions that nobody would see are not asked, and not answered by themselves", async (context) => {
    needScript(context);
    using home = temporaryHome();
    const { screen, code } = await atTerminal(home.path, "init | cat", []);
    expect([code, screen]).toEqual([0, expect.stringContaining("svc init --yes")]);
    expect(readdirSync(home.path)).toEqual([]);
  });

  test("where there is a config it asks what to change, and nothing is the default", async (context) => {
    needScript(context);
    using home = temporaryHome();
    await init(home.path, []);
    const before = configOf(home.path);
    const { screen, code } = await atTerminal(home.path, "init", [
      ["Change the model (builtin)?", ENTER],
      ["Add a channel?", ENTER],
      ["Change the public URL (none)?", ENTER],
      ["Change the sandbox (auto)?", ENTER],
      ["Install svc as a service", ENTER],
    ]);
    expect([code, screen]).toEqual([0, expect.stringContaining("nothing to change in")]);
    expect(configOf(home.path)).toBe(before);
  });
});

/** How often the arrow is pressed from "none" to this channel: each build has others before it. */
async function downTo(feature: string): Promise<number> {
  using home = temporaryHome();
  const { stdout } = await runBinary(["features", "--json"], { home: home.path });
  const { features } = JSON.parse(stdout) as { features: { id: string; kind: string; included: boolean }[] };
  return (
    features.filter(({ kind, included }) => kind === "channel" && included).findIndex(({ id }) => id === feature) + 1
  );
}
