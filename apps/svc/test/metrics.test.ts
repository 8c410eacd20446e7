// What an operator sees of a running service: a real Prometheus reads from the real binary exactly what has happened, and nothing
// of what people said; where there are no numbers, the endpoint says what to do about it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { binaryPath, fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { parseExposition } from "@svc/testkit/conformance/observer-conformance";
import { missingPrometheus, promtool, startPrometheus } from "@svc/testkit/real/prometheus";
import { requireReal } from "@svc/testkit/require-real";
import { describe, expect, test } from "vitest";
import { homeWith, post } from "./daemon.ts";
import { METRICS, PERSON, startCounting } from "./metrics-fixture.ts";
import { installed, startProxy } from "./proxy-fixture.ts";

const TYPE = "text/plain; version=0.0.4; charset=utf-8";

test("Prometheus reads what has happened, as often as it has", async (context) => {
  const missing = missingPrometheus();
  if (missing) requireReal(context, missing);
  await using fixture = await startCounting([
    { text: "one", inputTokens: 100_000, outputTokens: 2_000 },
    { calls: [{ name: "shell", input: { command: "exit 3" } }], inputTokens: 50_000, outputTokens: 1_000 },
    { text: "two", inputTokens: 60_000, outputTokens: 500 },
    { status: 400 },
    { text: "four", inputTokens: 10_000, outputTokens: 100 },
  ]);
  const { daemon, token } = fixture;
  await using prometheus = await startPrometheus({ target: daemon.url });
  const statuses = [];
  for (const message of ["a", "b", "c"]) statuses.push((await post(daemon, token, message)).status);
  expect(statuses).toEqual([200, 200, 502]);
  expect((await daemon.request("/webhook", { body: { message: "d" } })).status).toBe(401);
  expect((await daemon.request("/no/such/path")).status).toBe(404);
  await fixture.write("e");
  await prometheus.scraped();

  const counted = {
    'svc_http_requests_total{method="POST",route="/webhook",status="200"}': 2,
    'svc_http_requests_total{method="POST",route="/webhook",status="502"}': 1,
    'svc_http_requests_total{method="POST",route="/webhook",status="401"}': 1,
    'svc_http_requests_total{method="POST",route="/pair",status="200"}': 1,
    'svc_http_requests_total{method="POST",route="/provider-a",status="200"}': 1,
    'svc_http_requests_total{method="GET",route="other",status="404"}': 1,
    'sum(svc_http_requests_total{route!="/metrics"})': 7,
    'svc_http_request_duration_seconds_count{route="/webhook",status_class="2xx"}': 2,
    'svc_turns_total{agent="default",outcome="ok"}': 3,
    'svc_turns_total{agent="default",outcome="failed"}': 1,
    'svc_turn_duration_seconds_count{outcome="ok"}': 3,
    'svc_model_calls_total{provider="openai-compatible",model="local",outcome="ok"}': 4,
    'svc_model_calls_total{model="local",outcome="failed"}': 1,
    'svc_model_tokens_total{model="local",direction="input"}': 220_000,
    'svc_model_tokens_total{model="local",direction="output"}': 3_600,
    'svc_tool_calls_total{tool="shell",outcome="ok"}': 1,
    'svc_commands_total{backend="none",outcome="exit-code"}': 1,
    'svc_messages_received_total{channel="provider_a"}': 1,
    'svc_inbox_wait_seconds_count{channel="provider_a"}': 1,
    'svc_deliveries_total{channel="provider_a",outcome="delivered"}': 1,
    'svc_delivery_attempts_total{channel="provider_a",outcome="ok"}': 1,
    'svc_errors_total{work="turn",code="MODEL_REFUSED"}': 1,
    'svc_errors_total{work="model-call",code="MODEL_REFUSED"}': 1,
    "sum(svc_errors_total)": 2,
    svc_inbox_messages: 0,
    svc_outbox_messages: 0,
    "sum(svc_dead_letters)": 0,
    svc_turns_running: 0,
    svc_devices_paired: 1,
    'svc_feature_up{feature="channel-provider-a"}': 1,
    'svc_build_info{profile="all"}': 1,
  };
  const read = await Promise.all(
    Object.keys(counted).map(async (asked) => [asked, await prometheus.value(asked).catch(String)] as const),
  );
  expect(Object.fromEntries(read)).toEqual(counted);
  expect(await prometheus.value('svc_model_cost_usd_total{model="local"}')).toBeCloseTo(0.476, 9);
  expect(await prometheus.query("svc_turns_unpriced_total")).toEqual([]);
  expect(
    await prometheus.value('svc_http_request_duration_seconds_sum{route="/webhook",status_class="2xx"}'),
  ).toBeGreaterThan(0);
  expect(await prometheus.value("process_cpu_seconds_total")).toBeGreaterThan(0);
  expect(promtool(["check", "metrics"], await fixture.metrics())).toEqual({ code: 0, output: "" });
});

test("the text follows the specification, is valid, and names no client", async () => {
  await using fixture = await startCounting([
    { text: "planted-answer", inputTokens: 1, outputTokens: 1 },
    { text: "planted-reply", inputTokens: 1, outputTokens: 1 },
  ]);
  const { daemon, token } = fixture;
  const headers = {
    "X-Session-Id": "planted-session",
    "X-Idempotency-Key": "planted-key",
    "User-Agent": "planted-agent",
  };
  expect((await post(daemon, token, "planted-question", headers)).status).toBe(200);
  await daemon.request("/planted/path?planted=query", { token: "svc_planted" });
  await daemon.request("/api/sessions/planted-session/messages", { token });
  await fixture.write("planted-text");

  const answers = await Promise.all(Array.from({ length: 20 }, () => daemon.request("/metrics")));
  expect(new Set(answers.map(({ status, headers }) => `${status} ${headers.get("content-type")}`))).toEqual(
    new Set([`200 ${TYPE}`]),
  );
  const text = await answers[0]!.text();
  const families = parseExposition(text);
  const routes = families
    .find(({ name }) => name === "svc_http_requests_total")
    ?.samples.map(({ labels }) => labels["route"]);
  expect(routes).toEqual(expect.arrayContaining(["/api/sessions/{id}/messages", "other"]));
  for (const theirs of ["planted", PERSON, PERSON.slice(1), token]) expect(text).not.toContain(theirs);
});

describe("without numbers", () => {
  test.each([
    {
      what: "the feature is not in the build",
      binary: binaryPath,
      config: "",
      says: /^# .*not in this build.*pnpm build .*--with observability-metrics.*backend = "metrics"/,
    },
    {
      what: "it is not in the build, and asked for",
      binary: binaryPath,
      config: METRICS,
      says: /^# .*not in this build.*pnpm build .*--with observability-metrics$/m,
    },
    {
      what: "another backend is on",
      binary: fullestBinaryPath,
      config: "",
      says: /^# .*set \[observability\] backend = "metrics" .*svc reload/,
    },
    {
      what: "nobody is to watch",
      binary: fullestBinaryPath,
      config: '[observability]\nbackend = "none"\n',
      says: /^# .*set \[observability\] backend = "metrics" .*svc reload/,
    },
  ])("$what: 200, and a comment that says what to do", async ({ binary, config, says }) => {
    using home = homeWith(config);
    await using daemon = await startBinary({ binary: binary(), home: home.path });
    const answer = await daemon.request("/metrics");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(TYPE);
    const text = await answer.text();
    expect(text).toMatch(says);
    expect(parseExposition(text)).toEqual([]);
  });
});

test("a reload turns the numbers on, off and on again, from 0", async () => {
  using home = homeWith('[observability]\nbackend = "none"\n');
  const binary = fullestBinaryPath();
  await using daemon = await startBinary({ binary, home: home.path });
  const reload = async (backend: string): Promise<string> => {
    writeFileSync(join(home.path, "config.toml"), `[observability]\nbackend = "${backend}"\n`);
    expect(await runBinary(["reload"], { binary, home: home.path })).toMatchObject({ code: 0 });
    return (await daemon.request("/metrics")).text();
  };
  expect(await reload("metrics")).toContain("\nsvc_devices_paired 0\n");
  await daemon.request("/health");
  const counted = 'svc_http_requests_total{method="GET",route="/health",status="200"} 1\n';
  expect(await (await daemon.request("/metrics")).text()).toContain(counted);
  expect(await reload("none")).toMatch(/^# /);
  expect(await reload("noop")).toMatch(/^# /);
  const anew = await reload("metrics");
  expect(anew).not.toContain('route="/health"');
  expect(anew).toContain("\nsvc_devices_paired 0\n");
});

test.for(["caddy", "nginx"] as const)(
  "the page's lines for %s keep the numbers from the public",
  async (kind, context) => {
    if (!installed(kind)) requireReal(context, { name: kind, reason: `not on PATH; apt-get install ${kind}` });
    using home = homeWith(
      `${METRICS}\n[gateway]\npublic_url = "https://agent.example.org"\ntrust_forwarded_headers = true\n`,
    );
    await using daemon = await startBinary({ binary: fullestBinaryPath(), home: home.path });
    const page = readFileSync(join(import.meta.dirname, "../../../docs/operations/monitoring.md"), "utf8");
    const [, lines = ""] =
      new RegExp(`\`\`\`${kind === "caddy" ? "caddyfile" : "nginx"}\\n([^]*?)\`\`\``).exec(page) ?? [];
    const shut = (block: string): string =>
      kind === "caddy" ? lines : block.replace("  location / {", `  ${lines}\n$&`);
    await using proxy = await startProxy(kind, new URL(daemon.url).host, shut);
    expect(await proxy.send("/metrics")).toMatchObject({ status: 404 });
    expect(await proxy.send("/health")).toMatchObject({ status: 200 });
    expect(await (await daemon.request("/metrics")).text()).toContain("svc_build_info");
  },
);
