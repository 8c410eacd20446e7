// A recording that is sent to the wrong place, with a key that leaks, again and again, or that keeps its message from the agent.
import type { ServerResponse } from "node:http";
import { type Recording, SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import type { TranscriptionSettings } from "../src/index.ts";
import { transcribe } from "../src/speech/transcribe.ts";
import { failure } from "@svc/agent/agent-fixture";
import { type Answer, json, passing, type SpeechFixture, speechFixture } from "./speech-fixture.ts";

const noProgram = (): Promise<never> => Promise.reject(new Error("no programs in this test"));

interface Service extends SpeechFixture {
  ask(more?: Partial<TranscriptionSettings>, recording?: Partial<Recording>): Promise<string>;
}

async function service(...answers: Answer[]): Promise<Service> {
  const agentFixture = await speechFixture(...answers);
  const { baseUrl, fetch, clock, leave } = agentFixture;
  const settings = { baseUrl, apiKey: "sk-secret", model: "w-1", language: undefined, maxBytes: 1000 };
  const voice: Recording = { name: "voice.ogg", mimeType: "audio/ogg", bytes: new Uint8Array([1, 2, 255]) };
  return {
    ...agentFixture,
    ask: (more = {}, recording = {}) =>
      transcribe(
        { fetch, runProgram: noProgram, clock, signal: leave.signal },
        { ...settings, ...more },
        { ...voice, ...recording },
      ),
  };
}

describe("a transcription", () => {
  test("sends the recording as the form that OpenAI's interface takes, and gives the text", async () => {
    await using made = await service(json(200, { text: "  Hello there. " }));
    expect(await made.ask({ language: "de" })).toBe("Hello there.");
    const [{ url, headers, body }] = made.seen as [(typeof made.seen)[number]];
    expect([url, headers.authorization]).toEqual(["/v1/audio/transcriptions", "Bearer sk-secret"]);
    expect(headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    const part = (name: string) => new RegExp(`name="${name}"[^]*?\\r\\n\\r\\n([^]*?)\\r\\n--`).exec(body)?.[1];
    expect([part("model"), part("language"), part("response_format"), part("file")]).toEqual([
      "w-1",
      "de",
      "json",
      "\u0001\u0002\u00ff",
    ]);
    expect(body).toMatch(/name="file"; filename="voice.ogg"\r\nContent-Type: audio\/ogg/);
  });

  test("without a key or a language sends neither", async () => {
    await using made = await service(json(200, { text: "hi" }));
    await made.ask({ apiKey: undefined });
    expect(made.seen[0]!.headers.authorization).toBeUndefined();
    expect(made.seen[0]!.body).not.toContain("language");
  });

  test("is tried again while the service is busy, and not for longer than a few seconds", async () => {
    await using made = await service(
      json(503, {}),
      json(429, {}, { "retry-after": "3600" }),
      json(200, { text: "late" }),
    );
    expect(await passing(made.clock, made.ask())).toBe("late");
    expect(made.clock.monotonic()).toBeLessThan(20_000);
    expect(made.seen).toHaveLength(3);
  });

  test.each([
    ["is refused for good", [json(401, { error: { message: "sk-secret is wrong" } })], 1],
    ["stays busy", [json(503, {}), json(503, {}), json(503, {})], 3],
    ["is answered with something else", [json(200, ["text"])], 1],
    ["is answered without a text", [json(200, { text: 7 })], 1],
    ["is answered with no JSON", [(_: unknown, response: ServerResponse) => response.end("hello")], 1],
    ["is redirected elsewhere", [json(307, {}, { location: "http://127.0.0.1:1/" })], 1],
  ])("that %s is an error of ours with no word of theirs", async (_, answers, tries) => {
    await using made = await service(...(answers as Answer[]));
    const error = await passing(made.clock, failure(made.ask()));
    expect(error).toBeInstanceOf(SvcError);
    expect(error.code).toBe("TRANSCRIPTION_FAILED");
    expect(`${error.message} ${error.hint}`).not.toContain("sk-secret");
    expect(made.seen).toHaveLength(tries);
  });

  test("whose connection breaks is tried again", async () => {
    await using made = await service((request) => request.socket.destroy(), json(200, { text: "there" }));
    expect(await passing(made.clock, made.ask())).toBe("there");
  });

  test("of a recording that is too large is not asked for", async () => {
    await using made = await service();
    expect(await failure(made.ask({}, { bytes: new Uint8Array(1001) }))).toMatchObject({
      code: "TRANSCRIPTION_FAILED",
    });
    expect(made.seen).toEqual([]);
  });

  test("that is called off ends at once, with the reason", async () => {
    const reason = new Error("enough");
    await using made: Service = await service(() => made.leave.abort(reason));
    const asked = made.ask();
    await expect(asked).rejects.toBe(reason);
  });
});
