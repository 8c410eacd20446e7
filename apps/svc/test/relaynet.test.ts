// A private key that can't be revoked: it must be nowhere but sealed in the config, an operator who turns sealing off must be told at every
// start, and a mistyped account must stop the start. The answers of a conversation stand in the binary's own words, over a real relay.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { relaynetPerson } from "@svc/testkit/platforms/relaynet/people";
import { type Relaynet, startRelaynet } from "@svc/testkit/platforms/relaynet/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";

const AGENT = relaynetPerson("agent of the binary");
const ADA = relaynetPerson("ada");
const KEY = Buffer.from(AGENT.secretKey).toString("hex");
const FORMS = [KEY, KEY.toUpperCase(), AGENT.nsec, Buffer.from(AGENT.secretKey).toString("base64")];

interface Setting {
  readonly model: string;
  readonly relays: readonly Relaynet[];
  readonly key?: string;
  readonly allowed?: readonly string[];
}

const configOf = ({ model, relays, key = KEY, allowed = [ADA.npub] }: Setting): string => `
[model]
provider = "openai-compatible"
name = "fake"
base_url = "${model}"
api_key = "key-of-the-model"

[channels_config.relaynet]
private_key = "${key}"
relays = ${JSON.stringify(relays.map(({ relay }) => relay))}
allowed_pubkeys = ${JSON.stringify(allowed)}
`;

async function open() {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(temporaryHome());
  const model = stack.use(await fakeModelServer({ script: () => ({ text: "I have a pen." }) }));
  const relay = stack.use(await startRelaynet({ people: [ADA] }));
  const kept = stack.move();
  const where = { home: home.path, binary: fullestBinaryPath() };
  return {
    home: home.path,
    relay,
    setting: { model: model.url, relays: [relay] },
    write: (config: string) => writeFileSync(join(home.path, "config.toml"), config, { mode: 0o600 }),
    start: () => startBinary(where),
    svc: (args: readonly string[], input = "") => runBinary(args, { ...where, input }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Files below the folder that hold one of these texts. */
function holding(folder: string, texts: readonly string[]): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => {
      const bytes = readFileSync(file);
      return texts.some((text) => bytes.includes(text)) || bytes.includes(AGENT.secretKey);
    });
}

test("a question is answered by either protocol; the private key is sealed and stands nowhere else", async () => {
  await using made = await open();
  const { relay } = made;
  made.write(configOf(made.setting));
  await using daemon = await made.start();
  await eventually(
    () => daemon.output(),
    (output) => output.includes("the platform knows this channel"),
  );
  for (const protocol of ["wrapped", "legacy"] as const) {
    await relay.write({ from: ADA, to: AGENT.pubkey, text: `Hello, ${protocol}`, atMs: Date.now(), protocol });
  }
  await eventually(
    () => relay.sent,
    (sent) => sent.length === 2,
  );
  expect(relay.sent.map(({ text, protocol }) => `${protocol}: ${text}`).toSorted()).toEqual([
    "legacy: I have a pen.",
    "wrapped: I have a pen.",
  ]);
  expect(JSON.parse((await made.svc(["channels", "list", "--json"])).stdout)).toMatchObject({
    channels: [{ id: "relaynet", feature: "channel-relaynet", state: "running", callback_urls: [] }],
  });
  const tested = await made.svc(["channels", "test", "relaynet"]);
  expect(tested.stdout).toContain(`${AGENT.npub}: 1 of 1 relays answer; apps do not find it yet`);
  expect((await made.svc(["channels", "setup", "relaynet"])).stdout).toContain("on 1 of 1 relays");
  expect((await made.svc(["channels", "test", "relaynet"])).stdout).not.toContain("apps do not find it yet");
  const sent = await made.svc(["send", "relaynet", ADA.npub, "The backup is done.", "--wait"]);
  expect([sent.code, sent.stderr]).toEqual([0, ""]);
  expect(relay.sent.at(-1)).toMatchObject({ text: "The backup is done.", protocol: "wrapped" });
  const said = [daemon.output(), tested.stdout, (await made.svc(["config", "show"])).stdout].join("\n");
  for (const form of FORMS) expect(said).not.toContain(form);
  expect(said).not.toContain("STANDS IN PLAIN TEXT");
  await daemon.stop();
  expect(holding(made.home, FORMS)).toEqual([]);
});

test("with secrets.encrypt = false every start says that the private key stands in plain text, and so does the doctor", async () => {
  await using made = await open();
  made.write(`[secrets]\nencrypt = false\n${configOf(made.setting)}`);
  await using daemon = await made.start();
  expect(daemon.output()).toContain("STANDS IN PLAIN TEXT IN THE CONFIG");
  expect(daemon.output()).toContain("channels_config.relaynet.private_key");
  // Another secret of the config is no reason to shout.
  expect(daemon.output()).not.toContain("model.api_key");
  const { stdout } = await made.svc(["doctor", "--json"]);
  expect(stdout).toContain("Anyone who reads channels_config.relaynet.private_key has that account for good.");
  for (const form of FORMS) expect(daemon.output() + stdout).not.toContain(form);
});

test("an account that is none stops the start, and is named by its position", async () => {
  await using made = await open();
  made.write(configOf({ ...made.setting, allowed: [ADA.npub, "*", `${ADA.npub.slice(0, -1)}x`] }));
  const { code, stderr } = await made.svc(["daemon"]);
  expect(code).toBe(78);
  expect(stderr).toContain(
    "channels_config.relaynet.allowed_pubkeys[2]: must be a public key: npub1… or 64 hexadecimal digits",
  );
  made.write(configOf({ ...made.setting, key: AGENT.npub }));
  const wrong = await made.svc(["config", "check"]);
  expect(wrong.code).toBe(78);
  expect(wrong.stderr).toContain("channels_config.relaynet.private_key");
});

test("svc channels add makes the account", async () => {
  await using made = await open();
  made.write("");
  const keys = ["--set", `relays=${made.relay.relay}`, "--set", `allowed_pubkeys=${ADA.pubkey}`];
  const added = await made.svc(["channels", "add", "relaynet", ...keys, "--json"]);
  expect([added.code, added.stderr]).toEqual([0, ""]);
  const { generated } = JSON.parse(added.stdout) as { generated: Record<string, string> };
  expect(generated["channels_config.relaynet.private_key"]).toMatch(/^[0-9a-f]{64}$/);
  expect((await made.svc(["config", "check"])).code).toBe(0);
  expect((await made.svc(["channels", "test", "relaynet"])).stdout).toMatch(/npub1\w{58}: 1 of 1 relays answer/);
});
