// The fake model server, judged by the real provider libraries: whole and streamed answers, tool calls, and every fault.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import { fakeModelServer } from "../src/fake-model/server.ts";
import type { ModelStep } from "../src/fake-model/step.ts";

const settings = (baseURL: string) => ({ baseURL, apiKey: "key-1" });
const PROVIDERS: [name: string, open: (url: string) => LanguageModelV4][] = [
  [
    "openai-compatible",
    (url) => createOpenAICompatible({ ...settings(url), name: "fake", includeUsage: true })("model-1"),
  ],
  ["openai", (url) => createOpenAI(settings(url))("model-1")],
  ["anthropic", (url) => createAnthropic(settings(url))("model-1")],
];

const call = (abortSignal?: AbortSignal): LanguageModelV4CallOptions => ({
  prompt: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
  tools: [
    { type: "function", name: "file_read", description: "Reads.", inputSchema: { type: "object", properties: {} } },
  ],
  ...(abortSignal && { abortSignal }),
});

async function collect(stream: ReadableStream<LanguageModelV4StreamPart>): Promise<LanguageModelV4StreamPart[]> {
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

const outcome = <T>(work: PromiseLike<T>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => "resolved",
    (error: unknown) => error,
  );

describe.each(PROVIDERS)("%s", (_, open) => {
  async function against(script: readonly ModelStep[]) {
    const server = await fakeModelServer({ script });
    return { server, model: open(server.url), [Symbol.asyncDispose]: server.close };
  }

  test("a whole answer: text, tool calls, usage; the request is recorded", async () => {
    const calls = [{ name: "file_read", input: { path: "ä.txt" } }];
    await using made = await against([{ text: "I look.", calls, inputTokens: 5, outputTokens: 3 }]);
    const result = await made.model.doGenerate(call());
    expect(result.content).toMatchObject([
      { type: "text", text: "I look." },
      { type: "tool-call", toolName: "file_read", input: '{"path":"ä.txt"}' },
    ]);
    expect(result.finishReason.unified).toBe("tool-calls");
    expect([result.usage.inputTokens.total, result.usage.outputTokens.total]).toEqual([5, 3]);
    expect(made.server.requests).toMatchObject([{ method: "POST", body: { model: "model-1" } }]);
    expect(JSON.stringify(made.server.requests[0]?.headers)).toContain("key-1");
  });

  test("a streamed answer comes in pieces and says the same", async () => {
    const calls = [
      { name: "file_read", input: { path: "a" } },
      { name: "file_read", input: { path: "b" } },
    ];
    await using made = await against([{ text: "one two three", calls, outputTokens: 9 }]);
    const parts = await collect((await made.model.doStream(call())).stream);
    const deltas = parts.flatMap((part) => (part.type === "text-delta" && part.delta !== "" ? [part.delta] : []));
    expect([deltas.length, deltas.join("")]).toEqual([3, "one two three"]);
    expect(parts.flatMap((part) => (part.type === "tool-call" ? [part.input] : []))).toEqual([
      '{"path":"a"}',
      '{"path":"b"}',
    ]);
    expect(parts.find((part) => part.type === "finish")).toMatchObject({
      finishReason: { unified: "tool-calls" },
      usage: { outputTokens: { total: 9 } },
    });
  });

  test.each([
    [429, true],
    [500, true],
    [401, false],
  ])("status %i in the provider's own shape, with its headers", async (status, isRetryable) => {
    const headers = { "retry-after": "7" };
    await using made = await against([{ status, message: "scripted", headers }]);
    expect(await outcome(made.model.doGenerate(call()))).toMatchObject({
      statusCode: status,
      isRetryable,
      message: "scripted",
      responseHeaders: headers,
    });
  });

  test("a body that is not JSON is an error, whole and streamed", async () => {
    await using made = await against([{ fault: "bad-json" }, { fault: "bad-json" }]);
    expect(await outcome(made.model.doGenerate(call()))).toBeInstanceOf(Error);
    // A part of the stream, or a rejection: each library has its own way to say it.
    const streamed = made.model.doStream(call()).then(async ({ stream }) => {
      for await (const part of stream) if (part.type === "error") throw part.error;
    });
    expect(await outcome(streamed)).toBeInstanceOf(Error);
  });

  test("a dropped connection is an error, before the answer and in the middle of it", async () => {
    const steps: ModelStep[] = [
      { fault: "drop" },
      { fault: "drop-midway", text: "one two three four" },
      { fault: "drop-midway", text: "one two three four" },
    ];
    await using made = await against(steps);
    expect(await outcome(made.model.doGenerate(call()))).toBeInstanceOf(Error);
    expect(await outcome(made.model.doGenerate(call()))).toBeInstanceOf(Error);
    const told: string[] = [];
    const ended = await outcome(
      made.model.doStream(call()).then(async ({ stream }) => {
        for await (const part of stream) if (part.type === "text-delta") told.push(part.delta);
      }),
    );
    expect(ended).toBeInstanceOf(Error);
    expect(told.join("")).toMatch(/^one/);
  });

  test("a server that never answers: the caller's abort ends the call, and the server sees it go", async () => {
    await using made = await against([{ fault: "hang" }]);
    const controller = new AbortController();
    const hanging = outcome(made.model.doGenerate(call(controller.signal)));
    await made.server.arrived(0);
    controller.abort(new Error("enough"));
    expect(await hanging).toMatchObject({ message: "enough" });
    await expect.poll(() => made.server.abandoned).toBe(1);
  });
});

test("a request beyond the script is an error, never a silent answer; unknown paths are 404", async () => {
  await using server = await fakeModelServer({ script: [] });
  const post = (path: string, body: string) => fetch(`${server.url}${path}`, { method: "POST", body });
  expect((await post("/chat/completions", "{}")).status).toBe(500);
  expect((await post("/embeddings", "{}")).status).toBe(404);
  expect((await post("/chat/completions", "[]")).status).toBe(404);
  expect((await fetch(server.url)).status).toBe(404);
});

test("the script can be a function of the request", async () => {
  await using server = await fakeModelServer({
    script: ({ body }, index) => ({ text: `${String(body["q"])} ${index}` }),
  });
  const response = await fetch(`${server.url}/messages`, { method: "POST", body: '{"q":"hi"}' });
  expect(await response.json()).toMatchObject({ content: [{ type: "text", text: "hi 0" }] });
});
