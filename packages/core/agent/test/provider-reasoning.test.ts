// Reasoning must go back to the provider as it came, signed or encrypted, or it refuses the next step of the turn.
import { text } from "node:stream/consumers";
import { defineTool } from "@svc/contract";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { ask } from "./agent-fixture.ts";
import { fixtureAt, type Provider, rawServer, sendEvents } from "./provider-fixture.ts";

describe("reasoning goes back", () => {
  const look = defineTool({
    name: "look",
    description: "looks",
    input: v.object({}),
    approval: "auto",
    run: async () => "saw it",
  });

  /** Answers with these events, then with the second list; keeps the second request. */
  async function twoSteps(provider: Provider, name: string, first: readonly object[], second: readonly object[]) {
    const bodies: Record<string, unknown>[] = [];
    await using server = await rawServer(async (request, response) => {
      bodies.push(JSON.parse(await text(request)) as Record<string, unknown>);
      sendEvents(response, bodies.length === 1 ? first : second);
    });
    const made = fixtureAt(provider, server.url, { tools: [look], config: { model: { name } } });
    await ask(made.agent, "go", { onEvent: () => {} });
    return bodies;
  }

  test("anthropic: the signature, and what was redacted", async () => {
    const start = {
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const block = (index: number, content_block: object, ...deltas: object[]) => [
      { type: "content_block_start", index, content_block },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ];
    const end = (stop_reason: string) => [
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 2 } },
      { type: "message_stop" },
    ];
    const bodies = await twoSteps(
      "anthropic",
      "model-1",
      [
        { type: "message_start", message: start },
        ...block(
          0,
          { type: "thinking", thinking: "", signature: "" },
          { type: "thinking_delta", thinking: "I had better look." },
          { type: "signature_delta", signature: "c2lnbmVk" },
        ),
        ...block(1, { type: "redacted_thinking", data: "aGlkZGVu" }),
        ...block(
          2,
          { type: "tool_use", id: "t1", name: "look", input: {} },
          { type: "input_json_delta", partial_json: "{}" },
        ),
        ...end("tool_use"),
      ],
      [
        { type: "message_start", message: start },
        ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Done." }),
        ...end("end_turn"),
      ],
    );
    expect((bodies[1]!["messages"] as unknown[])[1]).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", thinking: "I had better look.", signature: "c2lnbmVk" },
        { type: "redacted_thinking", data: "aGlkZGVu" },
        { type: "tool_use", id: "t1", name: "look", input: {} },
      ],
    });
  });

  test("openai: the encrypted content, because nothing is kept there", async () => {
    const response = { id: "r", object: "response", created_at: 1, model: "o3", error: null };
    const usage = {
      input_tokens: 1,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const items = (...output: object[]) => [
      { type: "response.created", response },
      ...output.flatMap((item, output_index) => [
        { type: "response.output_item.added", output_index, item },
        { type: "response.output_item.done", output_index, item },
      ]),
      { type: "response.completed", response: { ...response, usage } },
    ];
    const called = {
      type: "function_call",
      id: "fc_1",
      call_id: "t1",
      name: "look",
      arguments: "{}",
      status: "completed",
    };
    const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "ZW5jcnlwdGVk" };
    const output = { type: "output_text", text: "Done.", annotations: [] };
    const said = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [output] };
    const [added, ...rest] = items(said);
    const delta = {
      type: "response.output_text.delta",
      output_index: 0,
      item_id: "msg_1",
      content_index: 0,
      delta: "Done.",
    };
    const bodies = await twoSteps("openai", "o3", items(reasoning, called), [
      added!,
      rest[0]!,
      delta,
      ...rest.slice(1),
    ]);
    expect(bodies[0]).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
    expect(bodies[1]?.["input"]).toContainEqual({
      type: "reasoning",
      id: "rs_1",
      encrypted_content: "ZW5jcnlwdGVk",
      summary: [],
    });
  });
});
