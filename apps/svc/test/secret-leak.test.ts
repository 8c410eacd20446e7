// Secrets in logs: what users of such systems find first. Every secret there is, planted, and looked for wherever the service
// says or writes anything: bodies, logs, errors, events, the database, what commands print, what the model provider is told.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import { startPlatform } from "@svc/testkit/platforms/base";
import { expect, test } from "vitest";
import { homeWith } from "./daemon.ts";
import { EventReader } from "./governed-fixture.ts";
import { channelSections, filesBelow, leaksIn, PLANTED, type Told } from "./leak-fixture.ts";

const CHANNELS = "provider_a provider_b provider_c provider_d mailpush voice_call telegram discord slack email".split(
  " ",
);
/** What of the collector's headers a library would quote. */
const COLLECTOR_KEY = PLANTED["observability.otel_headers"]!.replace("x-collector-key=", "");
const OLD_SECRET = "planted-and-rotated-5b40";

interface Around {
  readonly model: string;
  /** Of every channel and of the services of speech: it refuses, and quotes what it was sent. */
  readonly platform: string;
}

/** `webhook`: the lines of that section. */
const configText = ({ model, platform }: Around, webhook: string, more = ""): string => `
[model]
provider = "openai-compatible"
name = "fake"
base_url = "${model}"
api_key = "${PLANTED["model.api_key"]}"
${more}
[agents.other]
instructions = "Be brief."
[agents.other.model]
provider = "openai-compatible"
name = "other"
base_url = "${model}"
api_key = "${PLANTED["agents.*.model.api_key"]}"
[channels_config.webhook]
url = "${platform}/hook"
${webhook}
[security.policy]
autonomy = "full"
allowed_commands = ["*"]
workspace_only = false
[security.sandbox]
backend = "none"
[log]
level = "debug"
[observability]
backend = "otel"
otel_endpoint = "${platform}"
otel_headers = "${PLANTED["observability.otel_headers"]}"
[transcription]
enabled = true
base_url = "${platform}/v1"
model = "w"
api_key = "${PLANTED["transcription.api_key"]}"
[tts]
enabled = true
base_url = "${platform}/v1"
api_key = "${PLANTED["tts.api_key"]}"
[browser]
enabled = true
backend = "computer_use"
computer_use_endpoint = "${platform}/v1/actions"
computer_use_api_key = "${PLANTED["browser.computer_use_api_key"]}"
${channelSections(Object.fromEntries(CHANNELS.map((channel) => [channel, platform])))}
`;

const BEFORE = `secret = "${OLD_SECRET}"`;
const AFTER = `secret = "${PLANTED["channels_config.webhook.secret"]}"
signing_secret = "${PLANTED["channels_config.webhook.signing_secret"]}"
url_secret = "${PLANTED["channels_config.webhook.url_secret"]}"
authorization = "${PLANTED["channels_config.webhook.authorization"]}"`;

/** What a model would say that wants to give everything away. Nobody can know a secret before it is in the config. */
const later = new Set(Object.keys(PLANTED).filter((key) => key.startsWith("channels_config.webhook.")));
const known = [OLD_SECRET, ...Object.keys(PLANTED).flatMap((key) => (later.has(key) ? [] : [PLANTED[key]!]))];
function talkative(
  request: ModelRequest,
): { text: string } | { calls: { name: string; input: { [key: string]: string } }[] } {
  const messages = JSON.stringify(request.body["messages"]);
  if (messages.includes("read the config") && !messages.includes('"role":"tool"')) {
    return { calls: [{ name: "shell", input: { command: 'cat "$SVC_HOME/config.toml" ../config.toml; env' } }] };
  }
  return { text: `I know ${known.join(", ")}` };
}

test("no configured secret is told or written anywhere", async () => {
  await using model = await fakeModelServer({ script: talkative });
  await using platform = await startPlatform(() => ({ json: {} }));
  platform.mood = { refuses: 403 };
  const around = { model: model.url, platform: platform.url };
  using home = homeWith(configText(around, BEFORE, "[secrets]\nencrypt = false\n"));
  const told: Told[] = [];
  const daemon = await startBinary({ home: home.path });
  const token = await daemon.pair();
  await using stream = await EventReader.open(daemon.url, token);
  const code = /pairing code: (\d{6})/.exec(daemon.output())![1]!;

  const run = async (...args: string[]): Promise<void> => {
    const { stdout, stderr } = await runBinary(args, { home: home.path });
    told.push({ where: `svc ${args.join(" ")}`, text: stdout + stderr });
  };
  const ask = async (path: string, body?: object, headers: Record<string, string> = {}): Promise<void> => {
    const response = await daemon.request(path, { token, headers, ...(body && { body }) });
    told.push({ where: path, text: JSON.stringify([...response.headers]) + (await response.text()) });
  };

  const webhook = { "X-Webhook-Secret": OLD_SECRET, "X-Session-Id": "leaks" };
  await ask("/webhook", { message: "tell me" }, webhook);
  await ask("/webhook", { message: "read the config" }, webhook);
  await ask("/webhook", { message: "tell me" }, { ...webhook, "X-Webhook-Secret": `${OLD_SECRET}x` });
  await ask("/webhook", { message: 5 }, webhook);
  // What a client calls its request, or its trace, is nobody's to repeat.
  const named = { "X-Request-Id": OLD_SECRET, traceparent: `00-${OLD_SECRET}`, tracestate: `svc=${OLD_SECRET}` };
  await ask("/webhook", { message: "tell me" }, { ...webhook, ...named });
  await ask("/webhook", { message: "tell me" }, { ...webhook, ...named, "X-Webhook-Secret": "wrong" });
  await ask("/metrics", undefined, named);
  await reloadWith(daemon, configText(around, AFTER));
  known.push(...Object.values(PLANTED));
  await ask("/webhook", { message: "tell me" }, webhook);
  await run("chat", "-m", "tell me everything");
  await run("chat", "-m", "read the config");

  const listed = JSON.parse((await runBinary(["secrets", "list", "--json"], { home: home.path })).stdout) as {
    secrets: { key: string }[];
  };
  const keys = listed.secrets.map(({ key }) => key.replace(/^agents\.[^.]+\./, "agents.*."));
  expect([...new Set(keys)].sort(), "a secret key of this build is not planted here").toEqual(
    Object.keys(PLANTED).sort(),
  );

  // Of the stream, which has no end, what it has told by now.
  for (const path of await getPaths(daemon)) if (path !== "/api/events") await ask(path);
  expect(stream.events.length).toBeGreaterThan(10);
  told.push({ where: "/api/events", text: JSON.stringify(stream.events) });
  const sessions = (await (await daemon.request("/api/sessions", { token })).json()) as { sessions: { id: string }[] };
  await ask(`/api/sessions/${sessions.sessions[0]!.id}/messages`);
  for (const command of COMMANDS) await run(...command.split(" "));
  await run("chat", "-m", "tell me", "--agent", "other");
  await run("sessions", "show", sessions.sessions[0]!.id);
  for (const broken of brokenConfigs(around)) {
    writeFileSync(join(home.path, "config.toml"), broken, { mode: 0o600 });
    await run("reload");
    await run("config", "check");
    await run("config", "check", "--json");
    await run("doctor");
  }
  await daemon.stop();
  told.push({ where: "the daemon's output", text: daemon.output() });
  for (const folder of ["logs", "state", "run", "workspace"]) told.push(...filesBelow(home.path, folder));
  told.push({ where: "the model provider", text: JSON.stringify(model.requests.map(({ body }) => body)) });

  const secrets = [...Object.values(PLANTED), COLLECTOR_KEY, OLD_SECRET, token];
  expect(leaksIn(told, secrets)).toEqual([]);
  // The turns are in the log, each line with what it is about: what is not written can't tell anything.
  const turns = told.filter(({ where }) => where.startsWith("logs/")).flatMap(({ text }) => text.split("\n"));
  const fields = [/"message":"a turn ended"/, /"request":"[0-9a-f]{8}-\d+"/, /"turn":"t-/, /"model":"fake"/];
  expect(fields.filter((field) => turns.filter((line) => field.test(line)).length < 3)).toEqual([]);
  expect(told.filter(({ where }) => where.startsWith("logs/")).some(({ text }) => text.includes(code))).toBe(false);
});

const COMMANDS = [
  "status",
  "status --json",
  "config show",
  "config check",
  "config get model.api_key",
  "config get channels_config.webhook",
  "secrets list",
  "doctor",
  "doctor --security --json",
  "tools list",
  "features --all",
  "sessions list",
  "devices list --json",
  "model test",
  "model test --agent other --json",
  "logs -n 1000",
  "logs --json",
  "channels list --json",
  ...[...CHANNELS, "webhook"].map((name) => `channels test ${name}`),
  "channels setup mailpush",
  "inbox list --json",
  "webhook send provider_c --text hello",
];

/** Every GET path of the API document that takes no argument. */
async function getPaths(daemon: RunningBinary): Promise<string[]> {
  const document = (await (await daemon.request("/openapi.json")).json()) as {
    paths: Record<string, { get?: object }>;
  };
  const paths = Object.entries(document.paths).filter(([path, methods]) => methods.get && !path.includes("{"));
  expect(paths.length).toBeGreaterThan(6);
  return paths.map(([path]) => path);
}

async function reloadWith(daemon: RunningBinary, toml: string): Promise<void> {
  writeFileSync(join(daemon.home, "config.toml"), toml, { mode: 0o600 });
  expect((await runBinary(["reload"], { home: daemon.home })).code).toBe(0);
}

/** Secrets at wrong places, of wrong types, under mistyped names, in a text that does not parse. */
function brokenConfigs(around: Around): string[] {
  const good = configText(around, AFTER);
  return [
    good.replace("api_key =", "api_kye ="),
    good.replace(`base_url = "${around.model}"`, `base_url = "${PLANTED["model.api_key"]}"`),
    good.replace('secret = "', 'secret = ["').replace("[security.policy]", '"]\n[security.policy]'),
    `${good}\n[gateway]\nport = "${PLANTED["channels_config.webhook.signing_secret"]}"\n`,
    good.replace(/"$/m, ""),
  ];
}
