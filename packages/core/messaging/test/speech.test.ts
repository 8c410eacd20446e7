// A text that is spoken by the wrong voice, cut in the middle of a word, with a key that leaks; a caller who hears an error page.
import { type SpokenText, SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import type { SpeechSettings } from "../src/index.ts";
import { SpeechPermits, createSpeech, speak } from "../src/speech/speech.ts";
import { failure } from "@svc/agent/agent-fixture";
import { messagingFixture } from "./messaging-fixture.ts";
import { type Answer, json, passing, type SpeechFixture, speechFixture } from "./speech-fixture.ts";

const noProgram = (): Promise<never> => Promise.reject(new Error("no programs in this test"));

const settingsOf = ({ baseUrl }: SpeechFixture, more: Partial<SpeechSettings> = {}): SpeechSettings => ({
  baseUrl,
  apiKey: "sk-secret",
  model: "s-1",
  voice: "ann",
  maxChars: 100,
  ...more,
});

const ask = (made: SpeechFixture, text = "Hello.", more: Partial<SpeechSettings> = {}): Promise<SpokenText> =>
  speak(
    { fetch: made.fetch, runProgram: noProgram, clock: made.clock, signal: made.leave.signal },
    settingsOf(made, more),
    text,
  );

const audio =
  (contentType?: string, bytes = Buffer.from([255, 251, 0])): Answer =>
  (_, response) => {
    if (contentType !== undefined) response.setHeader("content-type", contentType);
    response.end(bytes);
  };

const sent = ({ seen }: SpeechFixture, n = 0): Record<string, unknown> =>
  JSON.parse(Buffer.from(seen[n]!.body, "latin1").toString("utf8")) as Record<string, unknown>;

describe("speech", () => {
  test("is asked for as OpenAI's interface wants it, and comes as it is", async () => {
    await using made = await speechFixture(audio("audio/mpeg"));
    expect(await ask(made, "Grüß dich.")).toEqual({ mimeType: "audio/mpeg", bytes: Buffer.from([255, 251, 0]) });
    const [{ url, headers }] = made.seen as [(typeof made.seen)[number]];
    expect([url, headers.authorization, headers["content-type"]]).toEqual([
      "/v1/audio/speech",
      "Bearer sk-secret",
      "application/json",
    ]);
    expect(sent(made)).toEqual({ model: "s-1", voice: "ann", input: "Grüß dich.", response_format: "mp3" });
  });

  test("needs no key", async () => {
    await using made = await speechFixture(audio("audio/mpeg"));
    await ask(made, "Hello.", { apiKey: undefined });
    expect(made.seen[0]!.headers.authorization).toBeUndefined();
  });

  test.each([
    ["audio/mpeg; charset=binary", "audio/mpeg"],
    ["audio/mp3", "audio/mpeg"],
    ["audio/wav", "audio/wav"],
    ["application/octet-stream", "audio/mpeg"],
    [undefined, "audio/mpeg"],
  ])("that is called %s is %s", async (told, mimeType) => {
    await using made = await speechFixture(audio(told));
    expect((await ask(made)).mimeType).toBe(mimeType);
  });

  test("of a text that is too long ends with a sentence", async () => {
    await using made = await speechFixture(audio());
    await ask(made, "One is short. Two is no longer. Three is not heard.", { maxChars: 40 });
    expect(sent(made)["input"]).toBe("One is short. Two is no longer.");
  });

  test("of nothing is not asked for", async () => {
    await using made = await speechFixture();
    expect(await failure(ask(made, " \n"))).toMatchObject({ code: "SPEECH_FAILED" });
    expect(made.seen).toEqual([]);
  });

  test("is tried again while the service is busy or away, and not for longer than a few seconds", async () => {
    await using made = await speechFixture(
      (request) => request.socket.destroy(),
      json(429, {}, { "retry-after": "3600" }),
      audio(),
    );
    expect((await passing(made.clock, ask(made))).bytes).toHaveLength(3);
    expect(made.clock.monotonic()).toBeLessThan(20_000);
  });

  test.each<[string, Answer[], number]>([
    ["is refused for good", [json(401, { error: { message: "sk-secret is wrong" } })], 1],
    ["stays busy", [json(503, {}), json(503, {}), json(503, {})], 3],
    ["is answered with JSON", [json(200, { error: "sk-secret" })], 1],
    ["is answered with a page", [audio("text/html", Buffer.from("<p>sk-secret"))], 1],
    ["is answered with nothing", [audio("audio/mpeg", Buffer.alloc(0))], 1],
    ["never ends", [audio("audio/mpeg", Buffer.alloc(24 * 1_048_576 + 1))], 1],
    ["is redirected elsewhere", [json(307, {}, { location: "http://127.0.0.1:1/" })], 1],
  ])("that %s is an error of ours with no word of theirs", async (_, answers, tries) => {
    await using made = await speechFixture(...answers);
    const error = await passing(made.clock, failure(ask(made)));
    expect(error).toBeInstanceOf(SvcError);
    expect(error.code).toBe("SPEECH_FAILED");
    expect(`${error.message} ${error.hint}`).not.toContain("sk-secret");
    expect(made.seen).toHaveLength(tries);
  });

  test("that is called off ends at once, with the reason", async () => {
    const reason = new Error("enough");
    await using made: SpeechFixture = await speechFixture(() => made.leave.abort(reason));
    await expect(ask(made)).rejects.toBe(reason);
  });
});

describe("the speech of features", () => {
  test("goes by the settings in force at each call: another voice, another service, none", async () => {
    await using service = await speechFixture(audio(), audio());
    await using other = await speechFixture(json(200, { text: "hi" }));
    const fetch: SpeechFixture["fetch"] = (url, options) =>
      (url.startsWith(service.baseUrl) ? service : other).fetch(url, options);
    const transcription = { ...settingsOf(other), language: undefined, maxBytes: 100 };
    using made = messagingFixture({ fetch, settings: { speech: settingsOf(service) } });
    const { speech } = made.messaging;
    const { signal } = service.leave;
    const voice = { name: "v", mimeType: "audio/ogg", bytes: new Uint8Array(3) };
    expect([speech.canSpeak, speech.canTranscribe]).toEqual([true, false]);
    expect(await failure(speech.transcribe(voice, signal))).toMatchObject({ code: "CHANNEL_CANNOT" });
    await speech.speak("one", signal);
    made.messaging.reconfigure(made.settings({ speech: settingsOf(service, { voice: "bob" }), transcription }));
    await speech.speak("two", signal);
    expect([sent(service, 0)["voice"], sent(service, 1)["voice"]]).toEqual(["ann", "bob"]);
    expect([speech.canTranscribe, await speech.transcribe(voice, signal)]).toEqual([true, "hi"]);
    made.messaging.reconfigure(made.settings({ speech: undefined }));
    expect(speech.canSpeak).toBe(false);
    expect(await failure(speech.speak("three", signal))).toMatchObject({ code: "CHANNEL_CANNOT" });
    expect(service.seen).toHaveLength(2);
  });

  test("is a few at a time, and a service that hangs holds up nothing of the other", async () => {
    const hangs: Answer = () => {};
    await using service = await speechFixture(...Array.from({ length: 8 }, () => hangs));
    await using other = await speechFixture(json(200, { text: "hi" }));
    const speech = createSpeech({
      clock: service.clock,
      runProgram: noProgram,
      fetch: (url, options) => (url.startsWith(service.baseUrl) ? service : other).fetch(url, options),
      settings: () => ({
        speech: settingsOf(service),
        transcription: { ...settingsOf(other), language: undefined, maxBytes: 100 },
      }),
      transcriber: new SpeechPermits(),
    });
    const { signal } = service.leave;
    const asked = Array.from({ length: 20 }, () => failure(speech.speak("hello", signal)));
    while (service.seen.length < 8) await new Promise((resolve) => setImmediate(resolve));
    const voice = { name: "v", mimeType: "audio/ogg", bytes: new Uint8Array(3) };
    expect(await speech.transcribe(voice, signal)).toBe("hi");
    expect(service.seen).toHaveLength(8);
    const reason = new Error("enough");
    service.leave.abort(reason);
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 20 }, () => reason));
    expect(service.seen).toHaveLength(8);
  });
});
