// The embedded model must answer with the message word for word, and run tools through the ordinary loop.
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtinModel } from "../src/models/agent-models.ts";
import { callModel } from "../src/turn/model-call.ts";
import { fakeClock } from "@svc/testkit/fake-clock";

const user = (text: string): LanguageModelV4Message => ({ role: "user", content: [{ type: "text", text }] });
const say = async (text: string) => (await builtinModel.doGenerate({ prompt: [user(text)] })).content[0]!;

describe("the built-in model", () => {
  test("repeats any message word for word", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
        fc.pre(!text.trim().startsWith("/tool"));
        expect(await say(text)).toMatchObject({ type: "text", text: expect.stringContaining(text) });
      }),
    );
  });

  test("streams the same text that it answers with", async () => {
    const deltas: string[] = [];
    const options = { prompt: [user("some  words\n\nhere ")] };
    const streamed = await callModel({
      model: builtinModel,
      options,
      clock: fakeClock(),
      maxRetries: 0,
      onPieces: () => ({ push: (text) => void deltas.push(text), end: () => {}, hasTold: true }),
    });
    const plain = await callModel({ model: builtinModel, options, clock: fakeClock(), maxRetries: 0 });
    expect(streamed.content).toMatchObject(plain.content);
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas.join("")).toContain("some  words\n\nhere ");
  });

  test("/tool calls the tool; a malformed call is explained", async () => {
    expect(await say('/tool file_read {"path":"a b"}')).toMatchObject({
      type: "tool-call",
      toolName: "file_read",
      input: '{"path":"a b"}',
    });
    expect(await say("/tool file_list")).toMatchObject({ type: "tool-call", input: "{}" });
    expect(await say("/tool x [1]")).toMatchObject({ type: "text", text: expect.stringContaining("/tool <name>") });
    expect(await say("/tool x {")).toMatchObject({ type: "text" });
  });
});
