// What goes over the wire, as the official bindings of the protocol read it; and that a collector which comes back is found.
import { missingOtlpReceiver, type OtlpSpan, startOtlpReceiver } from "@svc/testkit/real/otlp-receiver";
import { requireReal } from "@svc/testkit/require-real";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { type OpenFeature, openFeature } from "./open.ts";
import { FACTS, RESULTS } from "./samples.ts";

const missing = missingOtlpReceiver();

beforeEach((context) => {
  if (missing) requireReal(context, missing);
});

const CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** A message that a tool and a command were needed for, from its request to its delivery. */
function recordedTurn({ begin, context }: OpenFeature): void {
  const now = context.clock.now();
  const request = begin("request", FACTS.request, CALLER)!;
  const inbox = begin("inbox", FACTS.inbox, request.traceparent)!;
  request.end({ status: 202 }, now + 1);
  inbox.end(RESULTS.inbox, now + 2);
  const turn = begin("turn", FACTS.turn, inbox.traceparent)!;
  const model = begin("model-call", FACTS["model-call"], turn.traceparent)!;
  model.end(RESULTS["model-call"], now + 3);
  const tool = begin("tool-call", FACTS["tool-call"], turn.traceparent)!;
  const command = begin("command", FACTS.command, tool.traceparent)!;
  command.end(RESULTS.command, now + 4);
  tool.end({ error: "TOOL_FAILED" }, now + 5);
  turn.end(RESULTS.turn, now + 6.5);
  begin("delivery", FACTS.delivery, turn.traceparent)!.end(RESULTS.delivery, now + 7);
}

function treeOf(spans: readonly OtlpSpan[], parent = CALLER.slice(36, 52), indent = ""): string[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .flatMap((span) => [`${indent}${span.name}`, ...treeOf(spans, span.spanId, `${indent}  `)]);
}

describe.each(["http/protobuf", "http/json"] as const)("%s", (otel_protocol) => {
  test("a message is one trace, from the request that brought it to its delivery", async () => {
    await using receiver = await startOtlpReceiver();
    await using feature = await openFeature({
      otel_endpoint: receiver.url,
      otel_protocol,
      otel_service_name: "fixture",
    });
    recordedTurn(feature);
    await feature.told();
    expect(receiver.refusals()).toEqual([]);
    const spans = await receiver.spans();
    expect(treeOf(spans)).toEqual([
      "POST /webhook",
      "  receive mail",
      "    invoke_agent main",
      "      chat small",
      "      execute_tool file_read",
      "        command userns",
      "      send mail",
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([CALLER.slice(3, 35)]));
    expect(Object.fromEntries(spans.map(({ name, kind }) => [name.split(" ")[0], kind]))).toEqual({
      POST: "SPAN_KIND_SERVER",
      receive: "SPAN_KIND_CONSUMER",
      invoke_agent: "SPAN_KIND_INTERNAL",
      chat: "SPAN_KIND_CLIENT",
      execute_tool: "SPAN_KIND_INTERNAL",
      command: "SPAN_KIND_INTERNAL",
      send: "SPAN_KIND_PRODUCER",
    });
  });

  test("values have the types that their conventions demand", async () => {
    await using receiver = await startOtlpReceiver();
    await using feature = await openFeature({
      otel_endpoint: receiver.url,
      otel_protocol,
      otel_service_name: "fixture",
    });
    recordedTurn(feature);
    await feature.told();
    const spans = await receiver.spans();
    const named = (name: string): OtlpSpan => spans.find((span) => span.name === name)!;
    expect(named("chat small").attributes).toMatchObject({
      "gen_ai.request.model": { type: "string_value", value: "small" },
      "gen_ai.usage.input_tokens": { type: "int_value", value: 120 },
      "svc.cost_usd": { type: "double_value", value: 0.25 },
    });
    expect(named("POST /webhook")).toMatchObject({
      attributes: { "http.response.status_code": { type: "int_value", value: 202 } },
      // The parent is another service's: sampled, and its being remote known and true.
      flags: 0x301,
      scope: "svc",
      links: 0,
      events: [],
    });
    expect(named("execute_tool file_read").status).toEqual({ code: "STATUS_CODE_ERROR", message: "" });
    expect(named("invoke_agent main")).toMatchObject({
      startUnixNano: `${feature.context.clock.now()}000000`,
      endUnixNano: `${feature.context.clock.now() + 6}500000`,
      status: { code: "STATUS_CODE_UNSET" },
    });
    for (const { resource } of spans) {
      expect(resource).toMatchObject({
        "service.name": { type: "string_value", value: "fixture" },
        "service.version": { value: feature.context.build.version },
        "service.instance.id": { value: expect.stringMatching(/^[0-9a-f-]{36}$/) },
        "telemetry.sdk.language": { value: "nodejs" },
      });
      expect(Object.keys(resource)).toHaveLength(6);
    }
  });

  test("names, texts and numbers of every kind arrive, as far as they can be written", async () => {
    await using receiver = await startOtlpReceiver();
    // The last one would be cut in the middle of a character.
    const names = ["é 日本 🦊", 'a "b"\n\u0000', "\ud800", `${"x".repeat(16_383)}🦊`];
    await using feature = await openFeature({ otel_endpoint: receiver.url, otel_protocol, otel_record_content: true });
    for (const tool of names) {
      const call = feature.begin("tool-call", { tool, callId: tool })!;
      call.content!("output", tool);
      call.end(RESULTS["tool-call"], feature.context.clock.now());
    }
    for (const number of [Number.NaN, Infinity, -1, Number.MAX_VALUE, 2 ** 53]) {
      const usage = { inputTokens: number, outputTokens: number, costUsd: number };
      feature.begin("turn", FACTS.turn)!.end({ error: undefined, ...usage }, feature.context.clock.now());
    }
    await feature.told();
    expect(receiver.refusals()).toEqual([]);
    const told = (await receiver.spans()).map(({ attributes }) => attributes["gen_ai.tool.call.result"]?.value);
    expect(told.slice(0, 4)).toEqual([names[0], names[1], "\ufffd", `${"x".repeat(16_383)}\ufffd`]);
    expect(told).toHaveLength(9);
  });

  test("a thousand spans come in several requests, all of them", async () => {
    await using receiver = await startOtlpReceiver();
    await using feature = await openFeature({ otel_endpoint: receiver.url, otel_protocol });
    for (let count = 0; count < 1_000; count += 1) {
      feature.begin("turn", FACTS.turn)!.end(RESULTS.turn, feature.context.clock.now());
    }
    await feature.told();
    const received = await receiver.received();
    expect(received.map(({ spans }) => spans.length)).toEqual([256, 256, 256, 232]);
  });
});

test("a collector that was gone is found when it is back, and misses nothing that the queue held", async () => {
  const first = await startOtlpReceiver();
  await first.close();
  await using feature = await openFeature({ otel_endpoint: first.url, otel_protocol: "http/protobuf" });
  const { clock, log } = feature.context;
  recordedTurn(feature);
  // The exporter's own tries, then ours: both clocks are ahead of the sockets until it is told that nobody is there.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  try {
    await clock.advance(1_000);
    while (log.lines.length === 0) {
      await vi.advanceTimersByTimeAsync(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    vi.useRealTimers();
  }
  expect(log.lines).toMatchObject([{ level: "warn", fields: { reason: "ECONNREFUSED", dropped: 0 } }]);
  await using second = await startOtlpReceiver(first.port);
  await clock.advance(2_000);
  await feature.told();
  expect(treeOf(await second.spans())).toHaveLength(7);
  expect(log.lines.at(-1)).toMatchObject({ level: "info" });
});
