// Our client of Chat Completions beside the AI SDK's: the same requests, and of the same answers the same parts, however a server
// cuts them, ties fragments of calls together, or breaks the format.
import { text } from "node:stream/consumers";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ChatCompletionsModel } from "../src/models/chat-completions.ts";
import { rawServer } from "./provider-fixture.ts";

const HELLO: LanguageModelV4CallOptions = { prompt: [{ role: "user", content: [{ type: "text", text: "hello" }] }] };

/** What the server answers next, in pieces; and the last request it got. */
let pieces: readonly Uint8Array[] = [];
let asked = "";
let server: Awaited<ReturnType<typeof rawServer>>;
let ours: ChatCompletionsModel;

beforeAll(async () => {
  server = await rawServer(async (request, response) => {
    asked = await text(request);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) {
      response.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  ours = new ChatCompletionsModel({ modelId: "m", baseUrl: server.url, apiKey: "k" });
});
afterAll(() => server[Symbol.asyncDispose]());

/** The SDK's model, which is answered by `pieces`, and what it asked last. */
function reference(): { readonly model: LanguageModelV4; asked: string } {
  const made = { asked: "" };
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    made.asked = String(init?.body);
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    return new Response(stream);
  };
  const options = { baseURL: "http://provider.test/v1", name: "openai-compatible", includeUsage: true, fetch };
  return Object.assign(made, { model: createOpenAICompatible(options)("m") });
}

interface Read {
  /** That a turn reads, to the first failure. Ids that no server gave are numbered. */
  readonly parts: readonly unknown[];
  readonly failure: unknown;
  /** The stream itself failed, and parts that were not read yet are lost. */
  readonly isTorn: boolean;
}

async function read(model: LanguageModelV4): Promise<Read> {
  const parts: object[] = [];
  const number = numbering();
  const nameOf = (error: unknown): unknown => (error instanceof Error ? error.name : error);
  try {
    const { stream } = await model.doStream(HELLO);
    for await (const part of stream as AsyncIterable<LanguageModelV4StreamPart>) {
      if (part.type === "error") return { parts, failure: nameOf(part.error), isTorn: false };
      if (part.type !== "response-metadata") add(parts, comparable(part, number));
    }
    return { parts, failure: undefined, isTorn: false };
  } catch (error) {
    return { parts, failure: nameOf(error), isTorn: true };
  }
}

/** The SDK has a piece for each chunk, we have one for all that came at once. */
function add(parts: { type?: unknown; id?: unknown; delta?: string }[], part: (typeof parts)[number]): void {
  const last = parts.at(-1);
  const isMore =
    last?.type === part.type && last?.id === part.id && /^(?:text|reasoning)-delta$/.test(String(part.type));
  if (isMore) last!.delta += part.delta!;
  else parts.push({ ...part });
}

/** Of what can be compared: the parts that a torn stream lost are none of it. */
async function readByBoth(): Promise<[ours: Partial<Read>, theirs: Partial<Read>]> {
  const [made, expected] = [await read(ours), await read(reference().model)];
  const shown = ({ parts, failure }: Read): Partial<Read> => (expected.isTorn ? { failure } : { parts, failure });
  return [shown(made), shown(expected)];
}

async function answerOf(model: LanguageModelV4): Promise<unknown> {
  const number = numbering();
  try {
    const { content, finishReason, usage } = await model.doGenerate(HELLO);
    return { content: content.map((part) => comparable(part, number)), ...comparable({ finishReason, usage }, number) };
  } catch (error) {
    return { failed: (error as Error).name };
  }
}

const GIVEN_IDS: ReadonlySet<unknown> = new Set(["a", "b", "txt-0", "reasoning-0"]);

function numbering(): (id: unknown) => unknown {
  const made = new Map<unknown, number>();
  return (id) => {
    if (id === undefined || GIVEN_IDS.has(id)) return id;
    if (!made.has(id)) made.set(id, made.size);
    return made.get(id);
  };
}

function comparable(value: object, number: (id: unknown) => unknown): object {
  const { id, toolCallId, usage, providerMetadata, ...rest } = value as { [key: string]: unknown };
  const { raw: _, ...counts } = (usage ?? {}) as { raw?: unknown };
  const metadata = rest["type"] === "finish" ? undefined : providerMetadata;
  return { ...rest, id: number(id), toolCallId: number(toolCallId), usage: counts, metadata };
}

const word = fc.oneof(
  fc.constantFrom("", "Zoë ", "漢字", "🙂👩‍👩‍👧", "\u2028", "a\nb\r\n", '"\\'),
  fc.string({ unit: "grapheme", maxLength: 5 }),
);
const orNone = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: fc.constantFrom(null, undefined) });
/** Once in a while of a type that it can't have. */
const sometimesWrong = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 60, arbitrary: value },
    { weight: 1, arbitrary: fc.constantFrom(7, "x", [], {}, false, [{}], [7]) },
  );

const fragment = fc.record(
  {
    index: sometimesWrong(orNone(fc.constantFrom(0, 1))),
    id: sometimesWrong(orNone(fc.constantFrom("a", "b", "", " "))),
    function: sometimesWrong(
      fc.record(
        {
          name: sometimesWrong(orNone(fc.constantFrom("look", "act", "", " "))),
          arguments: sometimesWrong(
            orNone(fc.constantFrom("{", "}", "{}", '{"a":"}\\""', " ", "", "[1]", "5", "5 {", "}]")),
          ),
        },
        { requiredKeys: [] },
      ),
    ),
    extra_content: sometimesWrong(
      orNone(
        fc.record({ google: sometimesWrong(orNone(fc.record({ thought_signature: sometimesWrong(orNone(word)) }))) }),
      ),
    ),
  },
  { requiredKeys: ["function"] },
);
const contentParts = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("text"), text: sometimesWrong(word) }),
    fc.record({
      type: fc.constant("thinking"),
      thinking: sometimesWrong(
        fc.array(fc.record({ type: fc.constantFrom("text", "other"), text: sometimesWrong(word) })),
      ),
    }),
    fc.record({ type: sometimesWrong(fc.constant("image")) }),
  ),
  { maxLength: 3 },
);
const message = fc.record(
  {
    role: sometimesWrong(fc.constantFrom("assistant", null)),
    content: sometimesWrong(orNone(fc.oneof(word, contentParts))),
    refusal: orNone(fc.oneof({ weight: 1, arbitrary: word }, { weight: 3, arbitrary: fc.constant(false) })),
    reasoning_content: sometimesWrong(orNone(word)),
    reasoning: sometimesWrong(orNone(word)),
    tool_calls: sometimesWrong(orNone(fc.array(fragment, { maxLength: 3 }))),
  },
  { requiredKeys: [] },
);
const count = sometimesWrong(orNone(fc.nat(99)));
const usage = sometimesWrong(
  orNone(
    fc.record(
      {
        prompt_tokens: count,
        completion_tokens: count,
        prompt_tokens_details: sometimesWrong(orNone(fc.record({ cached_tokens: count }))),
        completion_tokens_details: sometimesWrong(orNone(fc.record({ reasoning_tokens: count }))),
      },
      { requiredKeys: [] },
    ),
  ),
);
const finish = sometimesWrong(
  orNone(fc.constantFrom("stop", "length", "content_filter", "tool_calls", "function_call", "constructor")),
);
const bodyOf = (piece: "message" | "delta", likely: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.record(
    {
      id: fc.constant("c"),
      choices: sometimesWrong(
        fc.oneof(
          {
            weight: 9,
            arbitrary: fc.tuple(fc.record({ [piece]: likely, finish_reason: finish }, { requiredKeys: [piece] })),
          },
          { weight: 1, arbitrary: fc.constant([]) },
        ),
      ),
      usage,
    },
    { requiredKeys: ["choices"] },
  );
const failure = fc.record({
  error: fc.record(
    {
      message: sometimesWrong(word),
      type: fc.constantFrom("server_error", null),
      code: fc.constantFrom(503, "x", null),
    },
    { requiredKeys: ["message"] },
  ),
});

const data = fc.oneof(
  { weight: 40, arbitrary: bodyOf("delta", sometimesWrong(orNone(message))).map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: bodyOf("delta", fc.constant({})).map((value) => JSON.stringify(value, undefined, 1)) },
  { weight: 1, arbitrary: failure.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.constantFrom("[DONE]", "", "{", "null", "7", " [DONE]") },
);
/** Events with the line ends, names and comments that servers send. */
const events = fc
  .record({
    // No lone CR: the SDK sees such a line end only when more has come.
    lineEnd: fc.constantFrom("\n", "\r\n"),
    list: fc.array(
      fc.tuple(data, fc.constantFrom("", ":", ": ping", "event: x", "id: 1", "retry: 5", "data", "unknown")),
      { maxLength: 8 },
    ),
    start: fc.constantFrom("", "\ufeff", "\n"),
    rest: fc.constantFrom("", "data: {", "\n\n"),
    isEnded: fc.boolean(),
  })
  .map(({ lineEnd, list, start, rest, isEnded }) => {
    const end = [JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop" }] }), ""] as const;
    const lines = (isEnded ? [...list, end] : list).flatMap(([value, before]) => [
      ...(before === "" ? [] : [before]),
      ...value.split("\n").map((line, at) => `data:${at === 0 ? " " : ""}${line}`),
      "",
    ]);
    return start + lines.map((line) => line + lineEnd).join("") + rest;
  });

const cutsOf = (size: number): fc.Arbitrary<number[]> => fc.array(fc.nat(size), { maxLength: 12 });

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const ends = [...at.toSorted((a, b) => a - b), bytes.length];
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end)).filter(({ length }) => length > 0);
}

test("the same parts of the same stream, cut anywhere", async () => {
  const stream = events
    .map((words) => new TextEncoder().encode(words))
    .chain((bytes) => fc.tuple(fc.constant(bytes), cutsOf(bytes.length)));
  await fc.assert(
    fc.asyncProperty(stream, async ([bytes, at]) => {
      pieces = cut(bytes, at);
      const [made, expected] = await readByBoth();
      expect(made).toEqual(expected);
    }),
    { numRuns: cases(1_000) },
  );
});

test("calls in fragments are tied together in the same way, whatever the server ties them by", async () => {
  const fragments = fc.array(fc.array(fragment, { minLength: 1, maxLength: 2 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fragments, async (list) => {
      const chunks = [
        ...list.map((tool_calls) => ({ choices: [{ delta: { tool_calls } }] })),
        { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
      ];
      pieces = [new TextEncoder().encode(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""))];
      const [made, expected] = await readByBoth();
      expect(made).toEqual(expected);
    }),
    { numRuns: cases(1_000) },
  );
});

test("the same answer of the same body", async () => {
  const bodies = fc.oneof(
    { weight: 20, arbitrary: bodyOf("message", sometimesWrong(message)).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.constantFrom("", "{", "null", "\ufeff{}", '{"choices":[]}', "<html>") },
  );
  await fc.assert(
    fc.asyncProperty(bodies, fc.nat(50), async (body, at) => {
      pieces = cut(new TextEncoder().encode(body), [Math.min(at, body.length)]);
      expect(await answerOf(ours)).toEqual(await answerOf(reference().model));
    }),
    { numRuns: cases(1_000) },
  );
});

// What is sent.

const textPart = fc.record({ type: fc.constant("text" as const), text: word });
const bytes = fc.uint8Array({ maxLength: 5 });
const filePart = fc
  .tuple(
    fc.constantFrom("image/png", "video/mp4", "audio/wav", "audio/mpeg", "application/pdf", "text/plain"),
    bytes,
    fc.option(fc.constant("a.pdf"), { nil: undefined }),
    fc.boolean(),
  )
  .map(([mediaType, data, filename, isBase64]) => ({
    type: "file" as const,
    mediaType,
    data: { type: "data" as const, data: isBase64 ? Buffer.from(data).toString("base64") : data },
    ...(filename !== undefined && { filename }),
  }));
const callPart = fc.record({
  type: fc.constant("tool-call" as const),
  toolCallId: word,
  toolName: word,
  input: fc.oneof(fc.jsonValue(), fc.constantFrom("{}", "{", "words")),
  providerOptions: fc.constantFrom(
    {},
    { "openai-compatible": { thoughtSignature: "s" } },
    { google: { thoughtSignature: "g" } },
  ),
});
const output = fc.oneof(
  fc.record({ type: fc.constantFrom("text", "error-text"), value: word }),
  fc.record({ type: fc.constantFrom("json", "error-json"), value: fc.jsonValue() }),
  fc.record({ type: fc.constant("execution-denied"), reason: fc.option(word, { nil: undefined }) }),
  fc.record({ type: fc.constant("content"), value: fc.array(textPart, { maxLength: 2 }) }),
);
const prompt = fc.array(
  fc.oneof(
    fc.record({ role: fc.constant("system"), content: word }),
    fc.record({ role: fc.constant("user"), content: fc.array(fc.oneof(textPart, filePart), { maxLength: 3 }) }),
    fc.record({
      role: fc.constant("assistant"),
      content: fc.array(fc.oneof(textPart, fc.record({ type: fc.constant("reasoning"), text: word }), callPart), {
        maxLength: 4,
      }),
    }),
    fc.record({
      role: fc.constant("tool"),
      content: fc.array(fc.record({ type: fc.constant("tool-result"), toolCallId: word, toolName: word, output }), {
        maxLength: 2,
      }),
    }),
  ),
  { maxLength: 5 },
);
const tools = fc.array(
  fc.record(
    {
      type: fc.constant("function"),
      name: word,
      description: fc.option(word, { nil: undefined }),
      inputSchema: fc.constant({ type: "object", properties: { a: { type: "string" } } }),
      strict: fc.boolean(),
    },
    { requiredKeys: ["type", "name", "inputSchema"] },
  ),
  { maxLength: 3 },
);

test("the same requests", async () => {
  const options = fc.record({ prompt, tools, maxOutputTokens: fc.nat() }, { requiredKeys: ["prompt"] });
  pieces = [new TextEncoder().encode('{"choices":[{"message":{"content":"ok"}}]}')];
  await fc.assert(
    fc.asyncProperty(options, fc.boolean(), async (given, isStream) => {
      const call = given as LanguageModelV4CallOptions;
      const theirs = reference();
      for (const model of [ours, theirs.model]) {
        if (isStream) await (await model.doStream(call)).stream.cancel().catch(() => {});
        else await model.doGenerate(call);
      }
      expect(JSON.parse(asked)).toEqual(JSON.parse(theirs.asked));
    }),
    { numRuns: cases(1_000) },
  );
});
