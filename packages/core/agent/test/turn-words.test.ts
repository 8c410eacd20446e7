// A person's words told to whoever did not ask for them, or with a secret in them.
import type { Json } from "@svc/contract";
import type { RecordedWork } from "@svc/testkit/observe/recording-observer";
import { describe, expect, test } from "vitest";
import { ask, call, read, scripted, text } from "./agent-fixture.ts";
import { watchedAgent } from "./watched-agent.ts";

describe("words", () => {
  const SECRET = "hunter2";
  const redact = (words: string): string => words.replaceAll(SECRET, "[secret]");
  const tell = { ...read, run: async (): Promise<Json> => ({ password: SECRET }) };

  test("are told to who wants them, without secrets: question and answer, messages, input and result", async () => {
    const model = scripted([text(`use ${SECRET}`), call("read", { what: SECRET })], [text(`it is ${SECRET}`)]);
    const { agent, recorded } = watchedAgent({ model, tools: [tell], redact }, { content: true });
    await ask(agent, `my word is ${SECRET}`);
    const said = (kind: RecordedWork["kind"]) => recorded.of(kind).map(({ content }) => content.map((one) => one.said));
    expect(said("turn")).toEqual([["my word is [secret]", "it is [secret]"]]);
    expect(said("tool-call")).toEqual([[{ what: "[secret]" }, { password: "[secret]" }]]);
    const [first, second] = said("model-call");
    expect(first![0]).toEqual([{ role: "user", content: [{ type: "text", text: "my word is [secret]" }] }]);
    expect(first![1]).toMatchObject([
      { type: "text", text: "use [secret]" },
      { type: "tool-call", toolName: "read" },
    ]);
    expect((second![0] as Json[]).length).toBe(3);
    expect(second![1]).toEqual([{ type: "text", text: "it is [secret]" }]);
    expect(JSON.stringify(recorded.works)).not.toContain(SECRET);
  });

  test("are told to nobody else", async () => {
    const model = scripted([call("read", { what: SECRET })], [text(SECRET)]);
    const { agent, recorded } = watchedAgent({ model, tools: [tell] });
    await ask(agent, SECRET);
    expect(JSON.stringify([recorded.works, recorded.events])).not.toContain(SECRET);
  });
});
