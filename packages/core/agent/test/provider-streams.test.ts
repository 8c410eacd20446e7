// Streams of the real provider libraries: cut between any two bytes, cut off, ended by an error, and what must survive them.
import { text } from "node:stream/consumers";
import type { TurnEvent } from "@svc/contract";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { describe, expect, test } from "vitest";
import { ask } from "./agent-fixture.ts";
import {
  against,
  failureOf,
  fixtureAt,
  type Provider,
  PROVIDERS,
  rawServer,
  sendEvents,
  throughBackoffs,
} from "./provider-fixture.ts";

function listener(): { readonly heard: string[]; readonly onEvent: (event: TurnEvent) => void } {
  const heard: string[] = [];
  return { heard, onEvent: (event) => void (event.type === "text-delta" && heard.push(event.text)) };
}

describe.each(PROVIDERS)("%s", (provider) => {
  test("text of any script survives a stream that is cut between any two bytes", async () => {
    const words = "Zoë 漢字 🙂👩‍👩‍👧‍👦 é — «ok» \u2028 ende";
    await using server = await fakeModelServer({ script: [{ text: words }] });
    await using slicer = await rawServer(async (request, response) => {
      const { body, status } = await fetch(`${new URL(server.url).origin}${request.url}`, {
        method: "POST",
        body: await text(request),
      });
      response.writeHead(status, { "content-type": "text/event-stream" });
      for await (const chunk of body!) {
        for (const byte of chunk) await new Promise((done) => response.write(Uint8Array.of(byte), done));
      }
      response.end();
    });
    const { heard, onEvent } = listener();
    const result = await ask(fixtureAt(provider, slicer.url).agent, "hello", { onEvent });
    expect(result.response).toBe(words);
    expect(heard.join("")).toBe(words);
    expect(heard).not.toContain("");
  });

  test("dropped after its first words: MODEL_UNREACHABLE, and not asked again, or they would be told twice", async () => {
    await using made = await against(provider, () => ({ fault: "drop-midway", text: "one two three four five six" }));
    const { heard, onEvent } = listener();
    const error = await failureOf(made, { onEvent });
    expect(error).toMatchObject({ code: "MODEL_UNREACHABLE", status: 502 });
    expect(heard.join("")).toMatch(/^one /);
    expect(made.server.requests).toHaveLength(1);
  });

  test("ended in good order, but not by the provider's own end: half an answer is none", async () => {
    await using server = await rawServer((_, response) => sendEvents(response, BEGINNING[provider]));
    const { heard, onEvent } = listener();
    const error = await failureOf(fixtureAt(provider, server.url), { onEvent, session: "s" });
    expect(error).toMatchObject({ code: "MODEL_UNREACHABLE" });
    expect(heard).toEqual(["Half"]);
  });

  test("ended before its first word: asked for again", async () => {
    let requests = 0;
    await using server = await rawServer((_, response) => {
      requests += 1;
      sendEvents(response, []);
    });
    const made = fixtureAt(provider, server.url);
    const error = await throughBackoffs(made, failureOf(made, listener()));
    expect(error).toMatchObject({ code: "MODEL_UNREACHABLE" });
    expect(requests).toBe(3);
  });

  test("an error in place of the answer, with status 200, is tried again", async () => {
    let requests = 0;
    await using server = await rawServer((_, response) => {
      requests += 1;
      sendEvents(response, [ERROR[provider]]);
    });
    const made = fixtureAt(provider, server.url);
    const error = await throughBackoffs(made, failureOf(made, listener()));
    expect(error).toMatchObject({ code: "MODEL_REFUSED", status: 502 });
    expect(requests).toBe(3);
  });

  test("an error after the first words ends the turn", async () => {
    let requests = 0;
    await using server = await rawServer((_, response) => {
      requests += 1;
      sendEvents(response, [...BEGINNING[provider], ERROR[provider]]);
    });
    const error = await failureOf(fixtureAt(provider, server.url), listener());
    expect(error).toMatchObject({ code: "MODEL_REFUSED" });
    expect(requests).toBe(1);
  });

  test("cancelled amid an answer: the turn ends though the server goes on", async () => {
    await using server = await rawServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of BEGINNING[provider]) response.write(`data: ${JSON.stringify(event)}\n\n`);
    });
    const cancel = new AbortController();
    const made = fixtureAt(provider, server.url);
    const error = await failureOf(made, { signal: cancel.signal, onEvent: cancelAtText(cancel) });
    expect(error).toMatchObject({ code: "TURN_CANCELLED" });
    expect(made.clock.waiting).toBe(0);
  });
});

const cancelAtText = (cancel: AbortController) => (event: TurnEvent) => {
  if (event.type === "text-delta") cancel.abort();
};

describe("what a server leaves out", () => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  });

  test("the usage: tokens unknown are no tokens for free", async () => {
    await using server = await rawServer((_, response) =>
      sendEvents(response, [chunk({ content: "hi" }), chunk({}, "stop")]),
    );
    const price = { input_per_million: 3, output_per_million: 15 };
    const made = fixtureAt("openai-compatible", server.url, { config: { model: { price } } });
    expect(await ask(made.agent, "hello", listener())).toMatchObject({ response: "hi", costUsd: undefined });
  });
});

/** The first word of an answer, and no end. */
const BEGINNING: Record<Provider, object[]> = {
  openai: [
    { type: "response.created", response: { id: "r", object: "response", created_at: 1, model: "m" } },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { type: "message", id: "i", role: "assistant", status: "in_progress", content: [] },
    },
    { type: "response.output_text.delta", output_index: 0, item_id: "i", content_index: 0, delta: "Half" },
  ],
  anthropic: [
    {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Half" } },
  ],
  "openai-compatible": [
    { choices: [{ index: 0, delta: { role: "assistant", content: "Half" }, finish_reason: null }] },
  ],
};

/** How each says amid a stream that it can't go on. */
const ERROR: Record<Provider, object> = {
  openai: {
    type: "error",
    sequence_number: 1,
    error: { type: "server_error", code: "server_error", message: "private words", param: null },
  },
  anthropic: { type: "error", error: { type: "overloaded_error", message: "private words" } },
  "openai-compatible": { error: { message: "private words", type: "server_error", code: 503 } },
};
