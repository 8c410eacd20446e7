// One client that uses up what all may spend or do. Each has a limit of its own, which a new connection, a restart, kill -9 and a
// clock that is set back don't renew, and which leaves the others what is theirs.
import { Agent, request } from "node:http";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { type FakeModelServer, fakeModelServer } from "@svc/testkit/fake-model/server";
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import { eventually, startChannelFixture } from "./channel-fixture.ts";
import { homeWith, localModel, post, UNGUARDED } from "./daemon.ts";
import { missingWallClock, wallClock } from "./procedures-clock.ts";

const HOUR_MS = 3_600_000;

/** A dollar an answer. With `act` in the question it writes a file first, for another dollar. */
const dollarModel = (): Promise<FakeModelServer> =>
  fakeModelServer({
    script({ body }) {
      const last = (body["messages"] as { role: string; content: unknown }[]).at(-1)!;
      const said = JSON.stringify(last.content);
      const counts = { inputTokens: 1_000_000, outputTokens: 0 };
      if (last.role === "tool") return { text: `tool: ${said}`, ...counts };
      if (!said.includes("act")) return { text: "answer", ...counts };
      return { calls: [{ name: "file_write", input: { path: "a.txt", content: "x" } }], ...counts };
    },
  });

const priced = (model: FakeModelServer): string =>
  `${localModel(model)}\n[model.price]\ninput_per_million = 1\noutput_per_million = 1\n`;

interface Spent {
  readonly today: string;
  readonly clients: readonly { kind: string; device: { name: string } | null; cost_usd: number; limit_usd: number }[];
}

const spentOf = async (daemon: RunningBinary, token: string): Promise<Spent["clients"]> =>
  ((await (await daemon.request("/api/usage?days=1", { token })).json()) as Spent).clients;

const OF_CLIENT = {
  status: 429,
  body: { code: "COST_LIMIT", error: expect.stringContaining("This client reached its daily cost limit") },
};
const OF_AGENT = {
  status: 429,
  body: { code: "COST_LIMIT", error: expect.stringContaining("The agent reached its daily cost limit") },
};

/** A second device of the same rights. */
async function pairAnother(daemon: RunningBinary, home: string): Promise<string> {
  const { stdout } = await runBinary(["pair", "--json"], { home });
  return daemon.pair((JSON.parse(stdout) as { code: string }).code);
}

test("what one device may cost: it stops, the other goes on, both meet the agent's; kill -9 and a clock set back keep it", async (context) => {
  await using model = await dollarModel();
  using home = homeWith(`[agent]\nmax_cost_per_day = 3\nclient_max_cost_per_day = 2\n${priced(model)}`);
  let daemon = await startBinary({ home: home.path });
  await using _ = { [Symbol.asyncDispose]: () => daemon.close() };
  const first = await daemon.pair();
  const second = await pairAnother(daemon, home.path);
  for (let turn = 0; turn < 2; turn += 1) expect((await post(daemon, first, "hello")).status).toBe(200);
  expect(await post(daemon, first, "hello")).toMatchObject(OF_CLIENT);
  expect(await spentOf(daemon, first)).toMatchObject([{ kind: "device", cost_usd: 2, limit_usd: 2 }]);
  const { stdout } = await runBinary(["status"], { home: home.path });
  expect(stdout).toContain("$2.0000 of $3 today, at most $2 for one client");

  await daemon.kill9();
  daemon = await startBinary({ home: home.path });
  expect(await post(daemon, first, "hello")).toMatchObject(OF_CLIENT);
  expect((await post(daemon, second, "hello")).status).toBe(200);
  expect(await post(daemon, second, "hello")).toMatchObject(OF_AGENT);
  expect(model.requests).toHaveLength(3);

  const absent = missingWallClock();
  if (absent) requireReal(context, absent);
  await daemon.stop();
  const clock = wallClock(home.path);
  clock.set(new Date(Date.now() - 24 * HOUR_MS).toISOString());
  daemon = await startBinary({ home: home.path, env: clock.env });
  await runBinary(["config", "set", "agent.max_cost_per_day", "9"], { home: home.path });
  expect(await post(daemon, first, "hello")).toMatchObject(OF_CLIENT);
  expect((await post(daemon, second, "hello")).status).toBe(200);
});

test("how often one device may act: the same, and per_client = false counts the agent's total only", async () => {
  await using model = await dollarModel();
  const limits = "max_actions_per_hour = 3\nclient_max_actions_per_hour = 2\n";
  using home = homeWith(
    `${localModel(model)}\n${UNGUARDED.replace("[security.policy]\n", `[security.policy]\n${limits}`)}`,
  );
  let daemon = await startBinary({ home: home.path });
  await using _ = { [Symbol.asyncDispose]: () => daemon.close() };
  const first = await daemon.pair();
  const second = await pairAnother(daemon, home.path);
  const act = async (token: string): Promise<string> => {
    const { body } = await post(daemon, token, "act");
    return /client_max_actions_per_hour|max_actions_per_hour/.exec(body.response)?.[0] ?? "ran";
  };
  expect([await act(first), await act(first), await act(first)]).toEqual(["ran", "ran", "client_max_actions_per_hour"]);
  await daemon.kill9();
  daemon = await startBinary({ home: home.path });
  expect([await act(first), await act(second), await act(second)]).toEqual([
    "client_max_actions_per_hour",
    "ran",
    "max_actions_per_hour",
  ]);
  await runBinary(["config", "set", "security.policy.max_actions_per_hour", "5"], { home: home.path });
  expect(await act(first)).toBe("client_max_actions_per_hour");
  await runBinary(["config", "set", "security.policy.per_client", "false"], { home: home.path });
  expect([await act(first), await act(first), await act(first)]).toEqual(["ran", "ran", "max_actions_per_hour"]);
});

test("callers without a token share one limit, whatever connection they come by; a device has its own", async () => {
  await using model = await dollarModel();
  using home = homeWith(`[gateway]\nrequire_pairing = false\n[agent]\nclient_max_cost_per_day = 1\n${priced(model)}`);
  await using daemon = await startBinary({ home: home.path });
  const token = await pairAnother(daemon, home.path);
  expect(await onNewConnection(daemon.url)).toBe(200);
  expect([await onNewConnection(daemon.url), await onNewConnection(daemon.url)]).toEqual([429, 429]);
  const async = { headers: { Prefer: "respond-async" }, body: { message: "hello" } };
  expect((await daemon.request("/webhook", async)).status).not.toBe(200);
  expect((await post(daemon, token, "hello")).status).toBe(200);
  expect(await post(daemon, token, "hello")).toMatchObject(OF_CLIENT);
  expect(await spentOf(daemon, token)).toMatchObject([
    { kind: expect.any(String), cost_usd: 1 },
    { kind: expect.any(String), cost_usd: 1 },
  ]);
  expect((await spentOf(daemon, token)).map(({ kind }) => kind).toSorted()).toEqual(["anonymous", "device"]);
});

/** The status of one turn without a token, by a connection that nothing used before. */
function onNewConnection(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false });
    const headers = { "Content-Type": "application/json" };
    const asked = request(new URL("/webhook", url), { method: "POST", agent, headers }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    });
    asked.on("error", reject).end(JSON.stringify({ message: "hello" }));
  });
}

test("a person of a channel is told whose limit it was, and a device goes on", async () => {
  await using model = await dollarModel();
  await using fixture = await startChannelFixture(`[agent]\nclient_max_cost_per_day = 1\n${priced(model)}`);
  const { daemon, platform } = fixture;
  const token = await daemon.pair();
  for (const text of ["hello", "again", "/status"]) {
    const before = platform.sent.length;
    await fixture.write({ text });
    await eventually(
      () => platform.sent.length,
      (sent) => sent > before,
    );
  }
  expect(platform.sent.map(({ text }) => text)).toEqual([
    "answer",
    "Sorry, this message could not be answered: this client reached its daily cost limit.",
    expect.stringContaining("Today by you: $1.0000 of $1.0000."),
  ]);
  expect((await post(daemon, token, "hello")).status).toBe(200);
  expect((await spentOf(daemon, token)).map(({ kind }) => kind).toSorted()).toEqual(["device", "person"]);
});
