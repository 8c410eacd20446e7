// What was said is recorded only where the operator asked for it, in the conventions' form, and never without bound.
import type { Json } from "@svc/contract";
import { expect, test } from "vitest";
import { openFeature } from "./open.ts";
import { FACTS, KINDS, RESULTS } from "./samples.ts";

const SPEAKING = ["turn", "model-call", "tool-call"] as const;

async function attributeOf(kind: (typeof SPEAKING)[number], direction: "input" | "output", said: Json) {
  await using feature = await openFeature({ otel_record_content: true });
  const watch = feature.begin(kind, FACTS[kind])!;
  watch.content!(direction, said);
  watch.end(RESULTS[kind] as never, feature.context.clock.now());
  const [span] = await feature.told();
  const silent = new Set(Object.keys((await silentSpan(kind)).attributes));
  const [[name, text]] = Object.entries(span!.attributes).filter(([key]) => !silent.has(key)) as [[string, string]];
  return { name, text };
}

async function silentSpan(kind: (typeof SPEAKING)[number]) {
  await using feature = await openFeature();
  feature.begin(kind, FACTS[kind])!.end(RESULTS[kind] as never, feature.context.clock.now());
  return (await feature.told())[0]!;
}

test.each(KINDS)("nobody is asked what is said in %s, unless the config says so", async (kind) => {
  await using feature = await openFeature();
  expect(feature.begin(kind, FACTS[kind])!.content).toBeUndefined();
});

test("a turn: the question and the answer", async () => {
  const question = await attributeOf("turn", "input", "Is it raining?");
  expect(question.name).toBe("gen_ai.input.messages");
  expect(JSON.parse(question.text)).toEqual([{ role: "user", parts: [{ type: "text", content: "Is it raining?" }] }]);
  const answer = await attributeOf("turn", "output", "Yes.");
  expect(answer.name).toBe("gen_ai.output.messages");
  expect(JSON.parse(answer.text)).toEqual([
    { role: "assistant", parts: [{ type: "text", content: "Yes." }], finish_reason: "stop" },
  ]);
});

test("a model call: every message that goes in", async () => {
  const { name, text } = await attributeOf("model-call", "input", [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "Weather?" },
        { type: "file", mediaType: "image/png", data: "iVBORw0KGgo" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Look it up." },
        { type: "tool-call", toolCallId: "c1", toolName: "weather", input: { city: "Ghent" } },
      ],
    },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "c1", toolName: "weather", output: { type: "text", value: "rain" } },
      ],
    },
  ]);
  expect(name).toBe("gen_ai.input.messages");
  expect(JSON.parse(text)).toEqual([
    { role: "system", parts: [{ type: "text", content: "Be brief." }] },
    {
      role: "user",
      parts: [
        { type: "text", content: "Weather?" },
        { type: "file", mime_type: "image/png" },
      ],
    },
    {
      role: "assistant",
      parts: [
        { type: "reasoning", content: "Look it up." },
        { type: "tool_call", id: "c1", name: "weather", arguments: { city: "Ghent" } },
      ],
    },
    { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "rain" }] },
  ]);
});

test("a model call: the answer that wants a tool", async () => {
  const { text } = await attributeOf("model-call", "output", [
    { type: "text", text: "One moment." },
    { type: "tool-call", toolCallId: "c1", toolName: "weather", input: {} },
  ]);
  expect(JSON.parse(text)).toMatchObject([
    { role: "assistant", finish_reason: "tool_call", parts: [{}, { name: "weather" }] },
  ]);
});

test.each([
  ["input", "gen_ai.tool.call.arguments", { city: "Ghent" }, '{"city":"Ghent"}'],
  ["output", "gen_ai.tool.call.result", "rain", "rain"],
] as const)("a tool call: its %s", async (direction, name, said, text) => {
  expect(await attributeOf("tool-call", direction, said)).toEqual({ name, text });
});

test.each([
  null,
  7,
  [],
  {},
  [[]],
  [null],
  { role: 5, content: { a: 1 } },
  [{ role: "user" }],
  [{ content: [null, 3] }],
] as Json[])("what is no message is written all the same: %#", async (said) => {
  for (const kind of SPEAKING) {
    for (const direction of ["input", "output"] as const) {
      expect((await attributeOf(kind, direction, said)).text).toEqual(expect.any(String));
    }
  }
});

test("a long text is cut", async () => {
  const { text } = await attributeOf("tool-call", "output", "x".repeat(1_000_000));
  expect(text).toHaveLength(16_384);
});

test("half a character, sent so or left by the cut, does not cost the whole request", async () => {
  for (const said of [`${"x".repeat(16_383)}🦊`, `${"x".repeat(16_383)}\ud83e`]) {
    expect((await attributeOf("tool-call", "output", said)).text.at(-1)).toBe("\ufffd");
  }
});

test("kinds of work in which nothing is said take what is said to them, and record nothing", async () => {
  await using feature = await openFeature({ otel_record_content: true });
  const watch = feature.begin("delivery", FACTS.delivery)!;
  watch.content?.("output", "secret plans");
  watch.end(RESULTS.delivery, feature.context.clock.now());
  expect(JSON.stringify(await feature.told())).not.toContain("secret plans");
});
