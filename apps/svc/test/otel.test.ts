// One trace from the request that brings a message to the delivery of its answer, read by a real collector; what strangers and
// failing collectors can do to it; what is never in it.
import { type AddressInfo, createServer } from "node:net";
import { isTraceparent } from "@svc/contract";
import { startBinary } from "@svc/testkit/binary/start-binary";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { missingOtlpReceiver, type OtlpSpan } from "@svc/testkit/real/otlp-receiver";
import { requireReal } from "@svc/testkit/require-real";
import { beforeEach, describe, expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { homeWith, post } from "./daemon.ts";
import { MODEL_KEY, type OtelFixture, startOtelFixture, treeOf } from "./otel-fixture.ts";

const missing = missingOtlpReceiver();

beforeEach((context) => {
  if (missing) requireReal(context, missing);
});

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const traceparent = `00-${TRACE}-${CALLER}-01`;

/** A file, a command, an answer. */
const WORKING: readonly ModelStep[] = [
  {
    calls: [
      { name: "file_write", input: { path: "notes.txt", content: "rain in Ghent" } },
      { name: "shell", input: { command: "cat notes.txt" } },
    ],
  },
  { text: "It rains in Ghent." },
];

const traceIds = (spans: readonly OtlpSpan[]): ReadonlySet<string> => new Set(spans.map(({ traceId }) => traceId));

async function answered({ platform }: OtelFixture, count = 1): Promise<void> {
  await eventually(
    () => platform.sent.length,
    (sent) => sent >= count,
  );
}

describe("one trace", () => {
  test("of a request that waits for its answer: the turn, each call of model and tools, and the command", async () => {
    await using fixture = await startOtelFixture({ script: WORKING });
    const { status } = await post(fixture.daemon, fixture.token, "What is the weather?", { traceparent });
    expect(status).toBe(200);
    const spans = (await fixture.told()).filter(({ name }) => name !== "POST /pair");
    expect(fixture.receiver.refusals()).toEqual([]);
    expect(treeOf(spans, CALLER)).toEqual([
      "POST /webhook",
      "  invoke_agent default",
      "    chat local",
      "    execute_tool file_write",
      "    execute_tool shell",
      "      command none",
      "    chat local",
    ]);
    expect(spans).toHaveLength(7);
    expect(traceIds(spans)).toEqual(new Set([TRACE]));
  });

  test("of a platform's message, to the delivery of its answer", async () => {
    await using fixture = await startOtelFixture({ script: WORKING });
    expect(await fixture.write({ text: "What is the weather?" }, { traceparent })).toBe(200);
    await answered(fixture);
    const spans = await fixture.told();
    expect(treeOf(spans, CALLER)).toEqual([
      "POST /provider-a",
      "  receive provider_a",
      "    invoke_agent default",
      "      chat local",
      "      execute_tool file_write",
      "      execute_tool shell",
      "        command none",
      "      chat local",
      "      send provider_a",
    ]);
  });

  test("goes on at the model's provider", async () => {
    await using fixture = await startOtelFixture({ script: WORKING });
    await post(fixture.daemon, fixture.token, "What is the weather?", { traceparent });
    const spans = await fixture.told();
    const calls = spans.filter(({ name }) => name === "chat local").map(({ spanId }) => spanId);
    const heard = fixture.model.requests.map(({ headers }) => headers["traceparent"] as string);
    expect(heard.filter(isTraceparent)).toHaveLength(2);
    expect(heard.toSorted()).toEqual(calls.map((spanId) => `00-${TRACE}-${spanId}-01`).toSorted());
  });

  test("of a message whose process was killed in the middle of its turn", async () => {
    let isHanging = true;
    const script = (): ModelStep => (isHanging ? { fault: "hang" } : { text: "Here I am again." });
    await using fixture = await startOtelFixture({ script });
    await fixture.write({ text: "Are you there?" }, { traceparent });
    await fixture.model.arrived(0);
    await fixture.daemon.kill9();
    isHanging = false;
    await fixture.start();
    await answered(fixture);
    const spans = (await fixture.told()).filter(({ traceId }) => traceId === TRACE);
    const names = spans.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["invoke_agent default", "chat local", "send provider_a"]));
    const heard = fixture.model.requests.map(({ headers }) => String(headers["traceparent"]).slice(3, 35));
    expect(new Set(heard)).toEqual(new Set([TRACE]));
  });

  test("of its own for each request without a traceparent, or with one that is none", async () => {
    await using fixture = await startOtelFixture({ script: () => ({ text: "Yes." }) });
    for (const headers of [{}, { traceparent: "00-0-0-01" }, { traceparent: `00-${"0".repeat(32)}-${CALLER}-01` }]) {
      await post(fixture.daemon, fixture.token, "Are you there?", headers as Record<string, string>);
    }
    const spans = await fixture.told();
    const roots = spans.filter(({ name, parentSpanId }) => name === "POST /webhook" && parentSpanId === "");
    expect(traceIds(roots).size).toBe(3);
  });
});

test("strangers leave nothing with the collector, whatever they ask for", async () => {
  await using fixture = await startOtelFixture({ script: [] });
  const { daemon } = fixture;
  const statuses: number[] = [];
  for (const path of ["/", "/health", "/metrics", "/openapi.json", "/api/status", "/nothing", "/provider-a", "/ws"]) {
    statuses.push((await daemon.request(path, { headers: { traceparent } })).status);
  }
  for (const path of ["/webhook", "/provider-a", "/pair", "/health"]) {
    const request = { method: "POST", headers: { traceparent }, body: { message: "hello" } };
    statuses.push((await daemon.request(path, request)).status);
  }
  expect(new Set(statuses)).toEqual(new Set([200, 401, 403, 404, 405]));
  expect((await fixture.told()).filter(({ traceId }) => traceId === TRACE)).toEqual([]);
});

describe("what is said", () => {
  const QUESTION = "What is the weather in Ghent today?";

  async function toldOf(keys: string): Promise<string> {
    await using fixture = await startOtelFixture({ script: WORKING, keys });
    await post(fixture.daemon, fixture.token, `${QUESTION} My key is ${MODEL_KEY}.`, { traceparent });
    return JSON.stringify(await fixture.told());
  }

  test("is in no span", async () => {
    const told = await toldOf('backend = "otel"');
    expect(told).toContain("execute_tool file_write");
    expect(told).not.toMatch(/weather|Ghent|notes\.txt/);
  });

  test("is in them where the config says so, without secrets", async () => {
    const told = await toldOf('backend = "otel"\notel_record_content = true');
    for (const words of [QUESTION, "It rains in Ghent.", "rain in Ghent", "notes.txt"]) expect(told).toContain(words);
    expect(told).not.toContain(MODEL_KEY);
  });
});

test.each(["opentelemetry", "otlp"])("%s is another name of it", async (backend) => {
  await using fixture = await startOtelFixture({ script: () => ({ text: "Yes." }), keys: `backend = "${backend}"` });
  await post(fixture.daemon, fixture.token, "Are you there?", { traceparent });
  expect(treeOf(await fixture.told(), CALLER)).toHaveLength(3);
});

test("as JSON too", async () => {
  const keys = 'backend = "otel"\notel_protocol = "http/json"\notel_service_name = "fixture"';
  await using fixture = await startOtelFixture({ script: () => ({ text: "Yes." }), keys });
  await post(fixture.daemon, fixture.token, "Are you there?", { traceparent });
  expect(treeOf(await fixture.told(), CALLER)).toHaveLength(3);
  const [request] = await fixture.receiver.received();
  expect(request?.headers["content-type"]).toBe("application/json");
  expect(request?.spans[0]?.resource["service.name"]?.value).toBe("fixture");
});

test("none is recorded at a share of 0, and the model is told so", async () => {
  const keys = 'backend = "otel"\notel_sampling = 0';
  await using fixture = await startOtelFixture({ script: () => ({ text: "Yes." }), keys });
  await post(fixture.daemon, fixture.token, "Are you there?");
  expect(await fixture.told()).toEqual([]);
  expect(fixture.model.requests[0]?.headers["traceparent"]).toMatch(/-00$/);
});

describe("a collector that", () => {
  const SECRET = "topsecret-of-the-test";
  const keys = `backend = "otel"\notel_headers = "authorization=Bearer%20${SECRET}"`;

  test("is dead costs no answer, and two lines of the log, without the secret", async () => {
    await using fixture = await startOtelFixture({
      script: () => ({ text: "Yes." }),
      keys,
      endpoint: "http://127.0.0.1:9",
    });
    for (let count = 0; count < 5; count += 1) {
      expect((await post(fixture.daemon, fixture.token, "Are you there?")).status).toBe(200);
    }
    expect(await fixture.daemon.stop()).toEqual({ code: 0, signal: null });
    // That it is dead, and how many spans went down with the service.
    const lines = fixture.daemon.output().match(/trace collector/g) ?? [];
    expect([1, 2]).toContain(lines.length);
    expect(fixture.daemon.output()).not.toContain(SECRET);
  });

  test("never answers does not keep the process from its end", async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const connected = new Promise((resolve) => server.once("connection", resolve));
    await using fixture = await startOtelFixture({ script: () => ({ text: "Yes." }), keys, endpoint });
    expect((await post(fixture.daemon, fixture.token, "Are you there?")).status).toBe(200);
    await connected;
    expect((await post(fixture.daemon, fixture.token, "Still there?")).status).toBe(200);
    expect(await fixture.daemon.stop()).toEqual({ code: 0, signal: null });
    expect(fixture.daemon.output()).not.toContain(SECRET);
    server.close();
  });
});

test("a build without it starts, warns, and writes its log", async () => {
  using home = homeWith('[observability]\nbackend = "otel"\n');
  await using daemon = await startBinary({ home: home.path });
  const token = await daemon.pair();
  expect((await post(daemon, token, "Are you there?")).status).toBe(200);
  await daemon.stop();
  const lines = daemon
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  const said = lines.map((line) => JSON.parse(line) as { level: string; message: string; turn?: string });
  expect(said.filter(({ level, message }) => level === "warn" && /observability.*otel/.test(message))).toHaveLength(1);
  expect(said.filter(({ level, turn }) => level === "info" && turn !== undefined)).not.toEqual([]);
});
