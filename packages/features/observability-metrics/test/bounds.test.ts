// Memory and the text are bounded whatever comes, and what everybody may read is about nobody: an operator's thousands of
// models, a model that invents tools, a sender who calls himself "} 1\nsvc_fake_total".
import type { ClientId, SvcEvent, WorkKind } from "@svc/contract";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LabelValues, MAX_COMBINATIONS, MAX_VALUES, OTHER } from "../src/series.ts";
import { openMetrics } from "./open-metrics.ts";

/** As told apart from every name: whatever a person wrote has it. */
const MARK = "§";
const marked = fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => `${MARK}${text}${MARK}`);

/** Names that the config, the model or a platform gives: most sound, some not. */
const name = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9_-]{0,12}$/),
  fc.constantFrom("__proto__", "constructor", "hf.co/a/B-GGUF:Q4_K_M", OTHER, ""),
  fc.string({ unit: "binary", maxLength: 8 }),
  marked,
);

const number = fc.oneof(fc.nat(), fc.double(), fc.constantFrom(Number.NaN, -1, Infinity));

const events: fc.Arbitrary<SvcEvent> = fc
  .record({
    name,
    text: marked,
    number,
    outcome: fc.constantFrom("approved", "expired"),
    prefix: fc.constantFrom("in", "out"),
  })
  .chain(({ name, text, number, outcome, prefix }) => {
    const conversation = { channel: name, id: text, thread: text };
    const turn = { turnId: text, sessionId: text, conversationId: text, owner: text as ClientId };
    const run = { runId: text, sop: name };
    const request = { title: text, message: text, channels: [text], approveKeywords: [text], rejectKeywords: [text] };
    return fc.constantFrom<SvcEvent>(
      { type: "turn-start", ...turn, agent: name, clientId: text as ClientId },
      { type: "text-delta", ...turn, text, offset: 0 },
      { type: "message-received", messageId: `in-${text}`, conversation, sender: text, turnId: text },
      { type: "message-delivered", messageId: text, conversation, turnId: text, attempts: number },
      { type: "message-failed", messageId: `${prefix}-1`, conversation, turnId: text, code: "CHANNEL_DOWN" },
      { type: "channel_event", event: text, title: text, message: text, channels: [text] },
      { type: "human_approval_request", runId: text, stepId: text, origin: "sop", ...request, expiresAtMs: number },
      {
        type: "human_approval_resolved",
        runId: text,
        stepId: text,
        approved: false,
        outcome: outcome as "approved",
        feedback: text,
        by: text,
      },
      { type: "sop-run-start", ...run, mode: "auto", startedBy: text },
      { type: "sop-run-end", ...run, status: "completed", error: undefined, durationMs: number },
      { type: "channel-health", channel: name, feature: name, state: "waiting", reason: text },
    );
  });

const work = fc
  .record({ name, other: name, text: marked, number, kind: fc.nat(6) })
  .map(({ name, other, text, number, kind }) => {
    const usage = { inputTokens: number, outputTokens: number, costUsd: number };
    const error = name.length % 2 === 0 ? undefined : ("TOOL_FAILED" as const);
    const all = [
      { kind: "request", facts: { method: other, route: name }, result: { status: number } },
      { kind: "inbox", facts: { channel: name, messageId: text }, result: { error } },
      {
        kind: "turn",
        facts: { turnId: text, sessionId: text, agent: name, model: other, channel: other },
        result: { error, ...usage },
      },
      {
        kind: "model-call",
        facts: { agent: name, provider: other, model: name, step: number },
        result: { error, ...usage },
      },
      { kind: "tool-call", facts: { tool: name, callId: text }, result: { error } },
      { kind: "command", facts: { backend: name }, result: { outcome: "exited", exitCode: number } },
      { kind: "delivery", facts: { channel: name, messageId: text, attempt: number }, result: { error } },
    ] as const;
    return { ...all[kind]!, seconds: number };
  });

test("whatever happens, no text or id of a person is exposed, and the exposition stays valid", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(events, { maxLength: 40 }), fc.array(work, { maxLength: 40 }), async (told, done) => {
      await using metrics = await openMetrics();
      for (const event of told) metrics.observer.record(event);
      for (const { kind, facts, result, seconds } of done) {
        metrics.work(kind as WorkKind, facts, result as never, seconds);
      }
      await metrics.families();
      expect(await metrics.text()).not.toContain(MARK);
    }),
    { numRuns: cases(100) },
  );
});

test("every value of every label is a name", async () => {
  await using metrics = await openMetrics();
  for (const agent of ["two words", 'a"b', "line\nbreak", "x".repeat(101), "", "ünïcode", "main"]) {
    const facts = { turnId: "t", sessionId: "s", agent, model: "m", channel: undefined };
    metrics.work("turn", facts, { error: undefined, inputTokens: 0, outputTokens: 0, costUsd: 0 });
  }
  expect(await metrics.series("svc_turns_total")).toEqual({
    "agent=other outcome=ok": 6,
    "agent=main outcome=ok": 1,
  });
});

describe("beyond the bound", () => {
  test("further values of a label are other, and nothing is lost", async () => {
    await using metrics = await openMetrics();
    for (let index = 0; index < MAX_VALUES + 50; index += 1) {
      metrics.work("tool-call", { tool: `tool-${index}`, callId: "c" }, { error: undefined });
    }
    metrics.work("tool-call", { tool: "tool-0", callId: "c" }, { error: undefined });
    const series = await metrics.series("svc_tool_calls_total");
    expect(Object.keys(series)).toHaveLength(MAX_VALUES + 1);
    expect(series).toMatchObject({ "tool=tool-0 outcome=ok": 2, "tool=other outcome=ok": 50 });
  });

  test("further combinations are other in every label, and nothing is lost", async () => {
    await using metrics = await openMetrics();
    const calls = 50 * 50;
    for (let index = 0; index < calls; index += 1) {
      const facts = { agent: "a", provider: `p-${index % 50}`, model: `m-${Math.floor(index / 50)}`, step: 0 };
      metrics.work("model-call", facts, { error: undefined, inputTokens: 0, outputTokens: 0, costUsd: 0 });
    }
    const series = await metrics.series("svc_model_calls_total");
    expect(Object.keys(series)).toHaveLength(MAX_COMBINATIONS + 1);
    expect(series["provider=other model=other outcome=other"]).toBe(calls - MAX_COMBINATIONS);
  });

  test("a value that was taken once is taken for good", () => {
    const values = new LabelValues();
    for (let index = 0; index < 10_000; index += 1) values.of("model", `m-${index}`);
    expect(values.of("model", "m-0")).toBe("m-0");
    expect(values.of("model", `m-${MAX_VALUES}`)).toBe(OTHER);
    expect(values.of("tool", `m-${MAX_VALUES}`)).toBe(`m-${MAX_VALUES}`);
  });
});
