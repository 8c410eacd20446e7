// Secrets in logs: what users of such systems find first. Every secret there is, planted, and looked for wherever the service
// says or writes anything: bodies, logs, errors, events, the database, what commands print, what the model provider is told.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeModelServer, type ModelRequest, runBinary, type RunningBinary, startBinary } from "@svc/testkit";
import { expect, test } from "vitest";
import { homeWith } from "./daemon.ts";

/** One value a secret key of this build, by the walk's spelling. */
const PLANTED: Readonly<Record<string, string>> = {
  "model.api_key": "planted-model-key-1f0c",
  "agents.*.model.api_key": "planted-agent-key-2e1d",
  "channels_config.webhook.secret": "planted-webhook-secret-3d2e",
  "channels_config.webhook.signing_secret": "planted-signing-secret-4c3f",
};
const OLD_SECRET = "planted-and-rotated-5b40";

/** `webhook`: the lines of that section. */
const configText = (modelUrl: string, webhook: string, more = ""): string => `
[model]
provider = "openai-compatible"
name = "fake"
base_url = "${modelUrl}"
api_key = "${PLANTED["model.api_key"]}"
${more}
[agents.other]
instructions = "Be brief."
[agents.other.model]
provider = "openai-compatible"
name = "other"
base_url = "${modelUrl}"
api_key = "${PLANTED["agents.*.model.api_key"]}"
[channels_config.webhook]
${webhook}
[security.policy]
autonomy = "full"
allowed_commands = ["*"]
workspace_only = false
[security.sandbox]
backend = "none"
[log]
level = "debug"
`;

const BEFORE = `secret = "${OLD_SECRET}"`;
const AFTER = `secret = "${PLANTED["channels_config.webhook.secret"]}"
signing_secret = "${PLANTED["channels_config.webhook.signing_secret"]}"`;

/** What a model would say that wants to give everything away. Nobody can know a secret before it is in the config. */
const known = [PLANTED["model.api_key"], PLANTED["agents.*.model.api_key"], OLD_SECRET];
function talkative(
  request: ModelRequest,
): { text: string } | { calls: { name: string; input: { [key: string]: string } }[] } {
  const messages = JSON.stringify(request.body["messages"]);
  if (messages.includes("read the config") && !messages.includes('"role":"tool"')) {
    return { calls: [{ name: "shell", input: { command: 'cat "$SVC_HOME/config.toml" ../config.toml; env' } }] };
  }
  return { text: `I know ${known.join(", ")}` };
}

test("no configured secret is told or written anywhere", { timeout: 120_000 }, async () => {
  await using model = await fakeModelServer({ script: talkative });
  using home = homeWith(configText(model.url, BEFORE, "[secrets]\nencrypt = false\n"));
  const told: Told[] = [];
  const daemon = await startBinary({ home: home.path });
  const token = await daemon.pair();
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
  await reloadWith(daemon, configText(model.url, AFTER));
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

  for (const path of await getPaths(daemon)) await ask(path);
  const sessions = (await (await daemon.request("/api/sessions", { token })).json()) as { sessions: { id: string }[] };
  await ask(`/api/sessions/${sessions.sessions[0]!.id}/messages`);
  for (const command of COMMANDS) await run(...command.split(" "));
  await run("chat", "-m", "tell me", "--agent", "other");
  await run("sessions", "show", sessions.sessions[0]!.id);
  for (const broken of brokenConfigs(model.url)) {
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

  const secrets = [...Object.values(PLANTED), OLD_SECRET, token];
  const leaks = told.flatMap(({ where, text }) =>
    secrets
      .filter((secret) => forms(secret).some((form) => text.includes(form)))
      .map((secret) => `${secret} in ${where}`),
  );
  expect(leaks).toEqual([]);
  expect(told.filter(({ where }) => where.startsWith("logs/")).some(({ text }) => text.includes(code))).toBe(false);
});

interface Told {
  readonly where: string;
  readonly text: string;
}

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
function brokenConfigs(modelUrl: string): string[] {
  const good = configText(modelUrl, AFTER);
  return [
    good.replace("api_key =", "api_kye ="),
    good.replace(`base_url = "${modelUrl}"`, `base_url = "${PLANTED["model.api_key"]}"`),
    good.replace('secret = "', 'secret = ["').replace("[security.policy]", '"]\n[security.policy]'),
    `${good}\n[gateway]\nport = "${PLANTED["channels_config.webhook.signing_secret"]}"\n`,
    good.replace(/"$/m, ""),
  ];
}

function filesBelow(home: string, folder: string): Told[] {
  const entries = readdirSync(join(home, folder), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => ({
      where: `${folder}/${entry.name}`,
      text: readFileSync(join(entry.parentPath, entry.name), "latin1"),
    }));
}

/** A secret is no less told when it stands in a URL or in base64. */
const forms = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString("base64").replace(/=+$/, ""),
  Buffer.from(secret).toString("hex"),
];
