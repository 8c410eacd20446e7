// The real provider libraries over real HTTP: what they send and what becomes of their answers, in three wire formats.
import { defineTool, type Json, type TurnEvent } from "@svc/contract";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { act, ask } from "./agent-fixture.ts";
import { against, KEY, type Provider, PROVIDERS } from "./provider-fixture.ts";

const look = defineTool({
  name: "look",
  description: "Looks at something.",
  input: v.strictObject({
    what: v.pipe(v.string(), v.description("The thing.")),
    times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  }),
  approval: "auto",
  run: async ({ what }) => ({ saw: `${what} 🙂` }),
});

const LOOK_SCHEMA = {
  type: "object",
  properties: {
    what: { type: "string", description: "The thing." },
    times: { type: "integer", minimum: 1 },
  },
  required: ["what"],
  additionalProperties: false,
};

const deltas = (events: readonly TurnEvent[]): string[] =>
  events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []));

describe.each(PROVIDERS)("%s", (provider) => {
  test("a whole answer, with the key in its header and the model in the body", async () => {
    await using made = await against(provider, [{ text: "Grüße, 世界 👩‍👩‍👧" }]);
    expect(await ask(made.agent, "hello")).toMatchObject({ response: "Grüße, 世界 👩‍👩‍👧", model: "model-1" });
    const [request] = made.server.requests;
    expect(request).toMatchObject({ wire: WIRES[provider], body: { model: "model-1" } });
    const [header, value] = provider === "anthropic" ? ["x-api-key", KEY] : ["authorization", `Bearer ${KEY}`];
    expect(request?.headers[header]).toBe(value);
    expect(request?.body["stream"] ?? false).toBe(false);
  });

  test("a streamed answer when somebody listens, told piece by piece", async () => {
    await using made = await against(provider, [{ text: "one two three", inputTokens: 21, outputTokens: 8 }]);
    const heard: TurnEvent[] = [];
    const result = await ask(made.agent, "hello", { onEvent: (event: TurnEvent) => heard.push(event) });
    expect(result).toMatchObject({ response: "one two three", inputTokens: 21, outputTokens: 8 });
    expect(deltas(heard)).toEqual(["one ", "two ", "three"]);
    expect(made.server.requests[0]?.body["stream"]).toBe(true);
  });

  test.each([
    ["whole", {}],
    ["streamed", { onEvent: () => {} }],
  ])("tool calls, two at once, and their results in the provider's own format (%s)", async (_, more) => {
    const calls = [
      { name: "look", input: { what: "ä" } },
      { name: "act", input: {} },
    ];
    const script = [{ text: "I look.", calls }, { text: "Done." }, { text: "Again." }];
    await using made = await against(provider, script, { tools: [look, act] });
    expect(await ask(made.agent, "go", { session: "s", ...more })).toMatchObject({
      response: "Done.",
      inputTokens: 22,
      outputTokens: 14,
    });
    expect(conversationOf(provider, made.server.requests[1]?.body)).toEqual(EXPECTED[provider]);
    await ask(made.agent, "again", { session: "s", ...more });
    expect(conversationOf(provider, made.server.requests[2]?.body).slice(0, EXPECTED[provider].length)).toEqual(
      EXPECTED[provider],
    );
  });

  test("the tools' JSON Schemas, the instructions and the token limit arrive", async () => {
    await using made = await against(provider, [{ text: "yes" }], {
      tools: [look],
      config: { model: { max_output_tokens: 1234 }, agent: { instructions: "Be brief." } },
    });
    await ask(made.agent, "hello");
    const body = made.server.requests[0]!.body;
    const { name, description, schema } = toolOf(provider, body);
    expect({ name, description }).toEqual({ name: "look", description: "Looks at something." });
    expect(schema).toMatchObject(LOOK_SCHEMA);
    expect(instructionsOf(provider, body)).toBe("Be brief.");
    expect(body[provider === "openai" ? "max_output_tokens" : "max_tokens"]).toBe(1234);
  });

  test("what it cost: computed for a known price, undefined for an unknown one, never zero", async () => {
    const step = { text: "yes", inputTokens: 1_000_000, outputTokens: 500_000 };
    await using priced = await against(provider, [step], {
      config: { model: { price: { input_per_million: 3, output_per_million: 15 } } },
    });
    expect((await ask(priced.agent, "hello")).costUsd).toBe(10.5);
    expect(priced.events.at(-1)).toMatchObject({ type: "turn-end", costUsd: 10.5 });

    await using unpriced = await against(provider, [step]);
    expect(await ask(unpriced.agent, "hello")).toMatchObject({ costUsd: undefined, inputTokens: 1_000_000 });
    expect(unpriced.events.at(-1)).toMatchObject({ type: "turn-end", costUsd: undefined });
  });
});

test("openai is told to keep nothing, and so is never referred to what it kept", async () => {
  const calls = [{ name: "look", input: { what: "x" } }];
  await using made = await against("openai", [{ text: "I look.", calls }, { text: "Done." }], { tools: [look] });
  await ask(made.agent, "go");
  for (const { body } of made.server.requests) expect(body["store"]).toBe(false);
  expect(JSON.stringify(made.server.requests[1]?.body)).not.toContain("item_reference");
});

test("openai-compatible needs no key, and then sends none", async () => {
  await using made = await against("openai-compatible", [{ text: "yes" }], { config: { model: { api_key: " " } } });
  await ask(made.agent, "hello");
  expect(made.server.requests[0]?.headers["authorization"]).toBeUndefined();
});

const WIRES = { openai: "responses", anthropic: "messages", "openai-compatible": "chat-completions" };

type Body = { readonly [key: string]: Json };

const conversationOf = (provider: Provider, body: Body | undefined): unknown[] =>
  body?.[provider === "openai" ? "input" : "messages"] as unknown[];

/** The question, the answer with two calls, and the two results. */
const EXPECTED: Record<Provider, unknown[]> = {
  openai: [
    { role: "user", content: [{ type: "input_text", text: "go" }] },
    { role: "assistant", content: "I look." },
    { type: "function_call", call_id: "call_0_0", name: "look", arguments: '{"what":"ä"}' },
    { type: "function_call", call_id: "call_0_1", name: "act", arguments: "{}" },
    { type: "function_call_output", call_id: "call_0_0", output: '{"saw":"ä 🙂"}' },
    { type: "function_call_output", call_id: "call_0_1", output: "done" },
  ],
  anthropic: [
    { role: "user", content: [{ type: "text", text: "go" }] },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "call_0_0", name: "look", input: { what: "ä" } },
        { type: "tool_use", id: "call_0_1", name: "act", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "call_0_0", content: '{"saw":"ä 🙂"}' },
        { type: "tool_result", tool_use_id: "call_0_1", content: "done" },
      ],
    },
  ],
  "openai-compatible": [
    { role: "user", content: "go" },
    {
      role: "assistant",
      content: "I look.",
      tool_calls: [
        { id: "call_0_0", type: "function", function: { name: "look", arguments: '{"what":"ä"}' } },
        { id: "call_0_1", type: "function", function: { name: "act", arguments: "{}" } },
      ],
    },
    { role: "tool", tool_call_id: "call_0_0", content: '{"saw":"ä 🙂"}' },
    { role: "tool", tool_call_id: "call_0_1", content: "done" },
  ],
};

function toolOf(provider: Provider, body: Body): { name: unknown; description: unknown; schema: unknown } {
  const [tool] = body["tools"] as Record<string, unknown>[];
  const told = (provider === "openai-compatible" ? tool?.["function"] : tool) as Record<string, unknown>;
  const { name, description } = told;
  return { name, description, schema: told[provider === "anthropic" ? "input_schema" : "parameters"] };
}

function instructionsOf(provider: Provider, body: Body): unknown {
  if (provider === "anthropic") return (body["system"] as { text: string }[])[0]?.text;
  return (conversationOf(provider, body)[0] as { content: unknown }).content;
}
