// Our client of Messages beside the AI SDK's: the same requests, and of the same answers the same parts and the same failures,
// however a server cuts them or breaks the format.
import { text } from "node:stream/consumers";
import { createAnthropic } from "@ai-sdk/anthropic";
import { anthropicModelCatalog } from "@ai-sdk/anthropic/internal";
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MessagesModel } from "../src/models/messages.ts";
import { modelError } from "../src/models/model-error.ts";
import { rawServer } from "./provider-fixture.ts";

const HELLO: LanguageModelV4CallOptions = { prompt: [{ role: "user", content: [{ type: "text", text: "hello" }] }] };
const MODEL = "claude-sonnet-4-5";

/** What the server answers next, in pieces, and the last request it got. */
let pieces: readonly Uint8Array[] = [];
let asked: Asked = { body: "", headers: {} };
let server: Awaited<ReturnType<typeof rawServer>>;
let ours: LanguageModelV4;

/** What an upgrade of the SDK may not change unseen. */
interface Asked {
  readonly body: string;
  readonly headers: { readonly [name: string]: unknown };
}

const askedOf = (body: string, headers: Headers | NodeJS.Dict<unknown>): Asked => {
  const all = new Headers(headers as Record<string, string>);
  const names = ["x-api-key", "anthropic-version", "anthropic-beta", "content-type"];
  return { body, headers: Object.fromEntries(names.map((name) => [name, all.get(name)])) };
};

const ourModel = (modelId: string) => new MessagesModel({ modelId, baseUrl: server.url, apiKey: "k" });

beforeAll(async () => {
  server = await rawServer(async (request, response) => {
    asked = askedOf(await text(request), request.headers);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) {
      response.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  ours = ourModel(MODEL);
});
afterAll(() => server[Symbol.asyncDispose]());

/** The SDK's model, which is answered by `pieces`, and what it asked last. */
function reference(modelId = MODEL): { readonly model: LanguageModelV4; asked: Asked } {
  const made = { asked: askedOf("", {}) };
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    made.asked = askedOf(String(init?.body), new Headers(init?.headers));
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    return new Response(stream);
  };
  return Object.assign(made, {
    model: createAnthropic({ baseURL: "http://provider.test/v1", apiKey: "k", fetch })(modelId),
  });
}

interface Read {
  /** That a turn reads, to the first failure. */
  readonly parts: readonly object[];
  readonly failure: unknown;
}

/** As a person is told of it. */
function failureOf(error: unknown): unknown {
  // The SDK's own word for a first event that it can't read.
  const isUnread = error instanceof Error && error.message === "Expected a normalized Anthropic stream error";
  const { message, ...fields } = modelError(error) as Error & { reason?: unknown; mayPass?: unknown };
  return isUnread || fields.reason === "unreadable" ? "unreadable" : { message, ...fields };
}

async function read(model: LanguageModelV4): Promise<Read> {
  const parts: object[] = [];
  try {
    const { stream } = await model.doStream(HELLO);
    for await (const part of stream as AsyncIterable<LanguageModelV4StreamPart>) {
      if (part.type === "error") return { parts, failure: failureOf(part.error) };
      add(parts, part);
    }
    return { parts, failure: undefined };
  } catch (error) {
    return { parts, failure: failureOf(error) };
  }
}

/** The SDK has a piece for each event, we have one for all that came at once. */
function add(parts: { type?: unknown; id?: unknown; delta?: string }[], part: LanguageModelV4StreamPart): void {
  const last = parts.at(-1);
  if (["response-metadata", "custom", "stream-start"].includes(part.type)) return;
  if (part.type === "finish" && part.finishReason.unified === "interrupted") return;
  if ("delta" in part && last?.type === part.type && last.id === part.id && !("providerMetadata" in part)) {
    if (!("providerMetadata" in last) && part.type !== "tool-input-delta") {
      last.delta += part.delta;
      return;
    }
  }
  parts.push(comparable(part));
}

/** Without what no turn reads: the provider's own record of an answer, and fields that are undefined. */
function comparable(value: object): object {
  const { usage, providerMetadata, ...rest } = value as { [key: string]: unknown };
  const { raw: _, ...counts } = (usage ?? {}) as { raw?: unknown };
  const metadata = "finishReason" in value ? undefined : providerMetadata;
  return JSON.parse(JSON.stringify({ ...rest, ...(usage !== undefined && { usage: counts }), metadata })) as object;
}

async function answerOf(model: LanguageModelV4): Promise<unknown> {
  try {
    const { content, finishReason, usage } = await model.doGenerate(HELLO);
    return { content: content.map(comparable), ...comparable({ finishReason, usage }) };
  } catch (error) {
    return { failed: failureOf(error) };
  }
}

const word = fc.oneof(
  fc.constantFrom("", " ", "Zoë ", "漢字", "🙂👩‍👩‍👧", "\u2028", "a\nb\r\n", '"\\'),
  fc.string({ unit: "grapheme", maxLength: 5 }),
);
const orNone = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: fc.constantFrom(null, undefined) });
/** Once in a while of a type that it can't have. */
const sometimesWrong = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 80, arbitrary: value },
    { weight: 1, arbitrary: fc.constantFrom(7, "x", [], {}, false, null, [{}], [7]) },
  );

const count = sometimesWrong(fc.nat(99));
const countOrNone = sometimesWrong(orNone(fc.nat(99)));
const usageWith = (required: readonly string[]): fc.Arbitrary<unknown> =>
  sometimesWrong(
    fc.record(
      {
        input_tokens: required.includes("input_tokens") ? count : countOrNone,
        output_tokens: count,
        cache_creation_input_tokens: countOrNone,
        cache_read_input_tokens: countOrNone,
        output_tokens_details: sometimesWrong(orNone(fc.record({ thinking_tokens: countOrNone }))),
      },
      { requiredKeys: required as "output_tokens"[] },
    ),
  );
const stopReason = sometimesWrong(
  orNone(
    fc.constantFrom(
      "end_turn",
      "stop_sequence",
      "max_tokens",
      "model_context_window_exceeded",
      "tool_use",
      "refusal",
      "pause_turn",
      "constructor",
    ),
  ),
);
const inputs = fc.constantFrom<object>({}, { a: 1 }, { a: { b: ["c"] } });
const callBlock = fc.record(
  {
    type: fc.constant("tool_use"),
    id: sometimesWrong(fc.constantFrom("a", "b")),
    name: sometimesWrong(fc.constantFrom("look", "act")),
    input: sometimesWrong(inputs),
    caller: fc.constant({ type: "direct" }),
  },
  { requiredKeys: ["type", "id", "name", "input"] },
);
const block = sometimesWrong(
  fc.oneof(
    fc.record({ type: fc.constant("text"), text: sometimesWrong(word) }),
    fc.record({ type: fc.constant("thinking"), thinking: sometimesWrong(word), signature: sometimesWrong(word) }),
    fc.record({ type: fc.constant("redacted_thinking"), data: sometimesWrong(word) }),
    callBlock,
    fc.record({ type: fc.constantFrom("unknown", "hologram") }),
  ),
);
// An empty block of reasoning and its end come beside text that is longer, as from a model.
const delta = sometimesWrong(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ type: fc.constant("text_delta"), text: sometimesWrong(word) }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant("thinking_delta"), thinking: sometimesWrong(word) }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant("signature_delta"), signature: sometimesWrong(word) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant("input_json_delta"),
        partial_json: sometimesWrong(fc.constantFrom("{", "}", "{}", '{"a":', "1}", "")),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("unknown_delta") }) },
  ),
);
const index = sometimesWrong(fc.constantFrom(0, 0, 0, 1));
const event = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("message_start"),
      message: sometimesWrong(
        fc.record(
          {
            id: fc.constantFrom("m", "m", "m", "other"),
            usage: usageWith(["input_tokens"]),
            stop_reason: stopReason,
            content: fc.constantFrom([], [], null),
          },
          { requiredKeys: ["id", "usage"] },
        ),
      ),
    }),
  },
  { weight: 6, arbitrary: fc.record({ type: fc.constant("content_block_start"), index, content_block: block }) },
  { weight: 9, arbitrary: fc.record({ type: fc.constant("content_block_delta"), index, delta }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant("content_block_stop"), index }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("message_delta"),
      delta: sometimesWrong(fc.record({ stop_reason: stopReason }, { requiredKeys: [] })),
      usage: usageWith(["output_tokens"]),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("message_stop", "ping") }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("error"),
      error: sometimesWrong(
        fc.record({
          type: fc.constantFrom(
            "overloaded_error",
            "rate_limit_error",
            "api_error",
            "authentication_error",
            "billing_error",
            "permission_error",
            "not_found_error",
            "invalid_request_error",
            "request_too_large",
            "new_error",
          ),
          message: sometimesWrong(word),
        }),
      ),
    }),
  },
);
const data = fc.oneof(
  { weight: 60, arbitrary: event.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.constantFrom("[DONE]", "{", "null", "7", "[]", "{}") },
);
const stream = fc
  .array(fc.tuple(data, fc.constantFrom("", ": ping", "event: x")), { maxLength: 14 })
  .map((list) => list.map(([value, before]) => `${before === "" ? "" : `${before}\n`}data: ${value}\n\n`).join(""));

const cutsOf = (size: number): fc.Arbitrary<number[]> => fc.array(fc.nat(size), { maxLength: 12 });

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const ends = [...at.toSorted((a, b) => a - b), bytes.length];
  return ends.map((end, position) => bytes.subarray(ends[position - 1] ?? 0, end)).filter(({ length }) => length > 0);
}

test("the same parts of the same stream, cut anywhere", async () => {
  const streams = stream
    .map((words) => new TextEncoder().encode(words))
    .chain((bytes) => fc.tuple(fc.constant(bytes), cutsOf(bytes.length)));
  await fc.assert(
    fc.asyncProperty(streams, async ([bytes, at]) => {
      pieces = cut(bytes, at);
      const [made, expected] = [await read(ours), await read(reference().model)];
      expect(made).toEqual(expected);
    }),
    { numRuns: cases(1_000) },
  );
});

test("the same answer of the same body", async () => {
  const body = fc.record(
    {
      type: sometimesWrong(fc.constant("message")),
      id: fc.constant("m"),
      content: sometimesWrong(fc.array(block, { maxLength: 4 })),
      stop_reason: stopReason,
      usage: usageWith(["input_tokens", "output_tokens"]),
    },
    { requiredKeys: ["type", "content", "usage"] },
  );
  const bodies = fc.oneof(
    { weight: 20, arbitrary: body.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.constantFrom("", "{", "null", "[]", "\ufeff{}", "<html>") },
  );
  await fc.assert(
    fc.asyncProperty(bodies, fc.nat(50), async (whole, at) => {
      pieces = cut(new TextEncoder().encode(whole), [Math.min(at, whole.length)]);
      expect(await answerOf(ours)).toEqual(await answerOf(reference().model));
    }),
    { numRuns: cases(1_000) },
  );
});

// What is sent.

const textPart = fc.record({ type: fc.constant("text" as const), text: word });
const bytes = fc.uint8Array({ maxLength: 5 });
const fileData = fc.oneof(
  bytes.map((data) => ({ type: "data", data })),
  bytes.map((data) => ({ type: "data", data: Buffer.from(data).toString("base64") })),
  fc.constant({ type: "url", url: new URL("https://files.test/a") }),
);
const filePart = fc.record(
  {
    type: fc.constant("file"),
    mediaType: fc.constantFrom("image/png", "image/webp", "application/pdf"),
    data: fileData,
    filename: fc.constant("a.pdf"),
  },
  { requiredKeys: ["type", "mediaType", "data"] },
);
const textFile = fc.record(
  {
    type: fc.constant("file"),
    mediaType: fc.constant("text/plain"),
    data: fc.oneof(
      word.map((value) => ({ type: "text", text: value })),
      bytes.map((value) => ({ type: "data", data: value })),
    ),
    filename: fc.constant("a.txt"),
  },
  { requiredKeys: ["type", "mediaType", "data"] },
);
const callPart = fc.record({
  type: fc.constant("tool-call"),
  toolCallId: word,
  toolName: word,
  input: fc.oneof(fc.jsonValue(), fc.constantFrom("{}", "{", "words", '{"a":1}')),
  providerOptions: fc.constantFrom({}, { anthropic: { caller: { type: "direct" } } }),
});
const reasoningPart = fc.record({
  type: fc.constant("reasoning"),
  text: word,
  providerOptions: fc.constantFrom(
    {},
    { anthropic: { signature: "s" } },
    { anthropic: { redactedData: "r" } },
    { openai: { itemId: "o" } },
  ),
});
const output = fc.oneof(
  fc.record({ type: fc.constantFrom("text", "error-text"), value: word }),
  fc.record({ type: fc.constantFrom("json", "error-json"), value: fc.jsonValue() }),
  fc.record({ type: fc.constant("execution-denied"), reason: fc.option(word, { nil: undefined }) }),
  fc.record({ type: fc.constant("content"), value: fc.array(fc.oneof(textPart, filePart), { maxLength: 3 }) }),
);
const turn = fc.oneof(
  fc.record({ role: fc.constant("user"), content: fc.array(fc.oneof(textPart, filePart, textFile), { maxLength: 3 }) }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.array(fc.oneof(textPart, reasoningPart, callPart), { maxLength: 5 }),
  }),
  fc.record({
    role: fc.constant("tool"),
    content: fc.array(fc.record({ type: fc.constant("tool-result"), toolCallId: word, toolName: word, output }), {
      maxLength: 2,
    }),
  }),
);
const prompt = fc
  .tuple(
    fc.array(fc.record({ role: fc.constant("system"), content: word }), { maxLength: 2 }),
    fc.array(turn, { maxLength: 5 }),
  )
  .map(([system, turns]) => [...system, ...turns]);
const tools = fc.array(
  fc.record(
    {
      type: fc.constant("function"),
      name: word,
      description: fc.option(word, { nil: undefined }),
      inputSchema: fc.constant({ type: "object", properties: { a: { type: "string" } } }),
    },
    { requiredKeys: ["type", "name", "inputSchema"] },
  ),
  { maxLength: 3 },
);

/** What both send. */
async function requestsOf(
  modelId: string,
  call: LanguageModelV4CallOptions,
  isStream: boolean,
): Promise<[ours: object, theirs: object]> {
  const theirs = reference(modelId);
  for (const model of [modelId === MODEL ? ours : ourModel(modelId), theirs.model]) {
    if (isStream) await (await model.doStream(call)).stream.cancel().catch(() => {});
    else await model.doGenerate(call);
  }
  const shown = ({ body, headers }: Asked): object => ({ headers, body: JSON.parse(body) as object });
  return [shown(asked), shown(theirs.asked)];
}

const OK = JSON.stringify({ type: "message", content: [], usage: { input_tokens: 1, output_tokens: 1 } });

test("the same requests", async () => {
  const options = fc.record({ prompt, tools, maxOutputTokens: fc.nat(200_000) }, { requiredKeys: ["prompt"] });
  await fc.assert(
    fc.asyncProperty(options, fc.boolean(), async (given, isStream) => {
      pieces = [new TextEncoder().encode(isStream ? 'data: {"type":"ping"}\n\ndata: {"type":"message_stop"}\n\n' : OK)];
      const [made, expected] = await requestsOf(MODEL, given as LanguageModelV4CallOptions, isStream);
      expect(made).toEqual(expected);
    }),
    { numRuns: cases(1_000) },
  );
});

test("the same limits for each model that the SDK knows, and for those to come", async () => {
  const others = [
    "claude-2",
    "claude-instant-1",
    "claude-3-5-sonnet-latest",
    "claude-opus-4@20250514",
    "claude-next",
    "m",
  ];
  pieces = [new TextEncoder().encode(OK)];
  const offered: LanguageModelV4CallOptions["tools"] = [{ type: "function", name: "look", inputSchema: {} }];
  for (const modelId of [...Object.keys(anthropicModelCatalog), ...others]) {
    for (const limit of [{}, { maxOutputTokens: 150_000 }, { maxOutputTokens: 10 }]) {
      const [made, expected] = await requestsOf(modelId, { ...HELLO, ...limit, tools: offered }, false);
      expect(made).toEqual(expected);
    }
  }
});
