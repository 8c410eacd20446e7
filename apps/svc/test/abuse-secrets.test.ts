// Secrets where people and programs put them by mistake, in titles, payloads, answers, procedures and names: they must not come
// out again at any of the places where all of that is told.
import { runBinary } from "@svc/testkit/binary/run-binary";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { EventReader } from "./governed-fixture.ts";
import { filesBelow, leaksIn, type Told } from "./leak-fixture.ts";
import { manual, type ProceduresFixture, startProcedures } from "./procedures-fixture.ts";

/** Of the fixture's own config, and two beside them. */
const SECRETS = [
  "app-secret-of-the-test",
  "EAAB-access-token-of-the-test",
  "verify-token-of-the-test",
  "planted-model-key-1f0c",
  "planted-transcription-key-6a51",
];
const ALL = SECRETS.join(" and ");

const CONFIG = `api_key = "${SECRETS[3]}"
[transcription]
enabled = true
base_url = "http://127.0.0.1:9/v1"
model = "w"
api_key = "${SECRETS[4]}"
[log]
level = "debug"
[sop]
max_concurrent_total = 100
`;

const LEAKY = {
  toml: `${manual('execution_mode = "supervised"').replace("Of the test.", ALL)}
[[triggers]]
type = "webhook"
path = "/sop/leaky"

[[triggers]]
type = "channel_event"
event = "build"
`,
  md: `# ${ALL}\n\nNever say ${ALL}.\n\n## Steps\n\n1. **Use ${ALL}** — It is ${ALL}.\n2. **Again ${ALL}** — ${ALL}\n`,
};

/** Told to whoever follows a WebSocket. */
async function listen(fixture: ProceduresFixture): Promise<() => string> {
  let text = "";
  const ws = new WebSocket(`${fixture.chat.daemon.url.replace("http", "ws")}/ws`, [
    "svc.v1",
    `bearer.${fixture.token}`,
  ]);
  ws.addEventListener("message", ({ data }) => (text += String(data)));
  await new Promise((resolve) => ws.addEventListener("open", resolve));
  ws.send(JSON.stringify({ type: "resume" }));
  return () => text;
}

test("a secret that stands in what is sent, asked, answered or written comes out nowhere", async () => {
  await using fixture = await startProcedures({ config: CONFIG, script: () => ({ text: `I was told ${ALL}` }) });
  const { daemon } = fixture.chat;
  const { devices } = (await fixture.api<{ devices: { id: string }[] }>("/api/devices")).body;
  const renamed = { method: "PUT", token: fixture.token, body: { name: SECRETS[0]!.slice(0, 64) } };
  await daemon.request(`/api/devices/${devices[0]!.id}/name`, renamed);
  await using stream = await EventReader.open(daemon.url, fixture.token);
  const heard = await listen(fixture);
  const told: Told[] = [];
  const tell = async (where: string, response: Response): Promise<void> =>
    void told.push({ where, text: JSON.stringify([...response.headers]) + (await response.text()) });
  const program = (body: object) =>
    daemon.request("/api/channel-events", { method: "POST", body: { content: { title: ALL, message: ALL }, ...body } });

  await fixture.write({ leaky: LEAKY });
  await tell("an event", await program({ type: "build", channels: ["provider_a", "dashboard"] }));
  const [first] = (await fixture.api<{ runs: { id: string }[] }>("/api/sop-runs")).body.runs;
  await fixture.becomes(first!.id, "waiting_approval");
  await fixture.answer(first!.id, "step-1", false, ALL);
  await fixture.becomes(first!.id, "cancelled");
  const hook = await fixture.api<{ runs: { run_id: string }[] }>("/sop/leaky", { text: ALL, [SECRETS[1]!]: 1 });
  const run = hook.body.runs[0]!.run_id;
  await fixture.becomes(run, "waiting_approval");
  await fixture.answer(run, "step-1", true, ALL);
  await fixture.becomes(run, "completed", "failed");
  const asked = { type: "human_approval_request", run_id: "r", step_id: "s", channels: ["provider_a"] };
  await tell("a request", await program(asked));
  await fixture.delivered();
  await fixture.chat.write({ text: `yes ${ALL}` });
  await eventually(
    () => fixture.approvals("waiting"),
    ({ length }) => length === 0,
  );
  await fixture.chat.write({ text: "tell me" });
  await fixture.delivered();
  await eventually(heard, (text) => text.includes("human_approval_resolved") && text.includes("sop-run-end"));

  const document = (await (await daemon.request("/openapi.json")).json()) as {
    paths: Record<string, { get?: object }>;
  };
  const paths = Object.entries(document.paths).flatMap(([path, { get }]) =>
    get && !/[{]|events|ws/.test(path) ? [path] : [],
  );
  for (const path of [...paths, `/api/sop-runs/${run}`, `/api/sop-runs/${first!.id}`]) {
    await tell(path, await daemon.request(path, { token: fixture.token }));
  }
  for (const command of [
    "approvals list --status all",
    "sop list",
    "sop show leaky",
    `sop show ${run}`,
    "sop runs",
    "audit list",
    "inbox list",
    "devices list",
    "logs -n 1000",
  ]) {
    for (const args of [command.split(" "), [...command.split(" "), "--json"]]) {
      const { stdout, stderr } = await runBinary(args, { home: fixture.home });
      told.push({ where: `svc ${args.join(" ")}`, text: stdout + stderr });
    }
  }
  told.push({ where: "the stream", text: JSON.stringify(stream.events) }, { where: "the socket", text: heard() });
  told.push({ where: "the chat", text: JSON.stringify(fixture.chat.platform.sent) });
  told.push({ where: "the model", text: JSON.stringify(fixture.model.requests.map(({ body }) => body)) });
  told.push({ where: "the daemon's output", text: daemon.output() }, ...filesBelow(fixture.home, "logs"));
  expect(fixture.model.requests.length).toBeGreaterThan(0);
  // What its owner calls a device, the list of devices says; nothing else does that tells what it has done.
  const others = told.filter(({ where }) => !/devices|^\/api\/session$/.test(where));
  expect(leaksIn(others, SECRETS)).toEqual([]);
});
