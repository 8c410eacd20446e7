// Spans are called, and say, what OpenTelemetry's conventions have for them: whoever has a dashboard for those sees ours.
import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import { SpanKind } from "@opentelemetry/api";
import { expect, test } from "vitest";
import type { WorkKind, WorkResults } from "@svc/contract";
import { SHAPES } from "../src/span.ts";
import { openFeature } from "./open.ts";
import { FACTS, KINDS, RESULTS } from "./samples.ts";

async function spanOf<Kind extends WorkKind>(kind: Kind, result: WorkResults[Kind] = RESULTS[kind]) {
  await using feature = await openFeature();
  feature.begin(kind, FACTS[kind])?.end(result, feature.context.clock.now() + 5);
  const [span] = await feature.told();
  return span!;
}

test.each([
  ["request", "POST /webhook", SpanKind.SERVER],
  ["inbox", "receive mail", SpanKind.CONSUMER],
  ["turn", "invoke_agent main", SpanKind.INTERNAL],
  ["model-call", "chat small", SpanKind.CLIENT],
  ["tool-call", "execute_tool file_read", SpanKind.INTERNAL],
  ["command", "command userns", SpanKind.INTERNAL],
  ["delivery", "send mail", SpanKind.PRODUCER],
] as const)("%s is %s", async (kind, name, spanKind) => {
  expect(await spanOf(kind)).toMatchObject({ name, kind: spanKind + 1, status: { code: 0 } });
});

test.each([
  ["request", { "http.request.method": "POST", "http.route": "/webhook", "http.response.status_code": 200 }],
  [
    "inbox",
    {
      "messaging.system": "mail",
      "messaging.system.name": "mail",
      "messaging.operation.name": "receive",
      "messaging.operation.type": "receive",
      "messaging.destination.name": "mail",
      "messaging.message.id": "in-7",
    },
  ],
  [
    "turn",
    {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "main",
      "gen_ai.conversation.id": "session-1",
      "gen_ai.request.model": "small",
      "svc.turn.id": "turn-1",
      "svc.channel": "mail",
      "gen_ai.usage.input_tokens": 120,
      "gen_ai.usage.output_tokens": 30,
      "svc.cost_usd": 0.25,
    },
  ],
  [
    "model-call",
    {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai-compatible",
      "gen_ai.request.model": "small",
      "gen_ai.agent.name": "main",
      "svc.turn.step": 2,
      "gen_ai.usage.input_tokens": 120,
      "gen_ai.usage.output_tokens": 30,
      "svc.cost_usd": 0.25,
    },
  ],
  [
    "tool-call",
    {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "file_read",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "call-9",
    },
  ],
  ["command", { "svc.sandbox.backend": "userns", "svc.command.outcome": "exited", "process.exit.code": 1 }],
  [
    "delivery",
    {
      "messaging.system": "mail",
      "messaging.system.name": "mail",
      "messaging.operation.name": "send",
      "messaging.operation.type": "send",
      "messaging.destination.name": "mail",
      "messaging.message.id": "out-8",
      "svc.delivery.attempt": 3,
    },
  ],
] as const)("what %s says, and nothing else", async (kind, attributes) => {
  expect((await spanOf(kind)).attributes).toEqual(attributes);
});

test("every name that is not ours is one of the library's", () => {
  const known = new Set<unknown>(Object.values(conventions));
  const names = KINDS.flatMap((kind) => {
    const shape = SHAPES[kind] as (typeof SHAPES)["turn"];
    return [
      ...Object.keys(shape.attributes(FACTS[kind] as never)),
      ...Object.keys(shape.outcome(RESULTS[kind] as never).attributes),
    ];
  });
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !name.startsWith("svc.") && !known.has(name))).toEqual([]);
});

const ERROR = 2;

test.each(["inbox", "tool-call", "delivery"] as const)("a failed %s is told by its code alone", async (kind) => {
  const { status, attributes } = await spanOf(kind, { error: "REMOTE_TIMEOUT" });
  expect(status).toEqual({ code: ERROR });
  expect(attributes["error.type"]).toBe("REMOTE_TIMEOUT");
});

test.each(["turn", "model-call"] as const)("a failed %s tells what it cost all the same", async (kind) => {
  const { status, attributes } = await spanOf(kind, { ...RESULTS[kind], error: "MODEL_REFUSED" });
  expect(status).toEqual({ code: ERROR });
  expect(attributes).toMatchObject({ "error.type": "MODEL_REFUSED", "svc.cost_usd": 0.25 });
});

test("a command that was ended is an error, one that says no by its code is not", async () => {
  expect(await spanOf("command", { outcome: "timed-out", exitCode: undefined })).toMatchObject({
    status: { code: ERROR },
    attributes: { "error.type": "timed-out" },
  });
  expect(await spanOf("command", { outcome: "exited", exitCode: 1 })).toMatchObject({ status: { code: 0 } });
});

test("a model without a price has no cost", async () => {
  const { attributes } = await spanOf("turn", { ...RESULTS.turn, costUsd: undefined });
  expect(attributes).not.toHaveProperty("svc.cost_usd");
});

test("a span lasts as long as its work, to the millisecond and below, also where the wall clock went back", async () => {
  await using feature = await openFeature();
  const work = { kind: "tool-call", facts: FACTS["tool-call"], parent: undefined } as const;
  feature.observer.begin!({ ...work, startedAtMs: 1_767_225_600_000.25 })?.end(
    { error: undefined },
    1_767_225_600_999.999_8,
  );
  feature.observer.begin!({ ...work, startedAtMs: 1_767_225_600_000 })?.end({ error: undefined }, 1_767_225_599_000);
  const [span, backwards] = (await feature.told()) as unknown as Record<string, string>[];
  expect(span).toMatchObject({ startTimeUnixNano: "1767225600000250000", endTimeUnixNano: "1767225600999999756" });
  expect(backwards!["endTimeUnixNano"]).toBe(backwards!["startTimeUnixNano"]);
});
