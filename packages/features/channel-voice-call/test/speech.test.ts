// Speech of [tts] that no one hears, that everybody can fetch, that fills the memory, or that leaves a caller in silence; and what
// callers say as recordings.
import { type SpokenText, SvcError } from "@svc/contract";
import { fakeSpeech } from "@svc/testkit/fake-speech";
import { describe, expect, test } from "vitest";
import { AudioCache } from "../src/speaker.ts";
import { failure, fixture, never, PERSON } from "./fixture.ts";

const GREETING = "Hello. How can I help you?";
const spoken = (bytes: number): SpokenText => ({ mimeType: "audio/mpeg", bytes: new Uint8Array(bytes) });

describe("[tts]", () => {
  test("speaks answers, and the phrases of the config once they are made", async () => {
    await using at = await fixture({ speech: fakeSpeech({ speak: true }) });
    const first = await at.platform.ring(PERSON);
    await at.followUp();
    await first.hears("listening");
    await first.says("How are you today, my friend?");
    await at.channel.send(at.answer("Very **well**."), never);
    await first.hears("listening");
    await first.hangsUp();
    const second = await at.platform.ring(PERSON);
    await second.hears("over");
    expect([first.heard, second.heard]).toEqual([
      [
        { text: GREETING, by: "voice" },
        { text: "Very well.", by: "audio" },
      ],
      [GREETING, "Are you still there?", "Goodbye."].map((text) => ({ text, by: "audio" })),
    ]);
    expect(at.platform.warnings).toEqual([]);
  });

  test("that is turned on, or changes its voice, by a reload is heard with the next answer", async () => {
    let voice: string | undefined;
    const speech = {
      ...fakeSpeech(),
      get canSpeak() {
        return voice !== undefined;
      },
      speak: async (text: string) => ({ mimeType: "audio/mpeg", bytes: Buffer.from(`${voice}: ${text}`) }),
    };
    await using at = await fixture({ speech });
    const phone = await at.platform.ring(PERSON);
    await phone.hears("listening");
    for (const next of [undefined, "ann", "bob", undefined]) {
      voice = next;
      await phone.says("And who is speaking now, please?");
      await at.channel.send(at.answer("Me."), never);
      await phone.hears("listening");
    }
    expect(phone.heard.slice(1)).toEqual([
      { text: "Me.", by: "voice" },
      { text: "ann: Me.", by: "audio" },
      { text: "bob: Me.", by: "audio" },
      { text: "Me.", by: "voice" },
    ]);
  });

  test("that fails leaves nobody in silence, and is told without the service's words", async () => {
    const speech = {
      ...fakeSpeech({ speak: true }),
      speak: () => Promise.reject(new SvcError("SPEECH_FAILED", "It answered with status 500.")),
    };
    await using at = await fixture({ speech });
    const phone = await at.platform.ring(PERSON);
    await phone.hears("listening");
    await phone.says("How are you today, my friend?");
    await at.channel.send(at.answer("Well."), never);
    await phone.hears("listening");
    expect(phone.heard.at(-1)).toEqual({ text: "Well.", by: "voice" });
    expect(at.context.log.text()).toContain("the platform's voice speaks");
  });

  test("that hangs is not waited for: after some seconds the platform speaks", async () => {
    const speech = {
      ...fakeSpeech({ speak: true }),
      speak: (_: string, signal: AbortSignal) =>
        new Promise<never>((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason as Error)),
        ),
    };
    await using at = await fixture({ speech });
    const phone = await at.platform.ring(PERSON);
    await phone.hears("listening");
    await phone.says("How are you today, my friend?");
    const sent = at.channel.send(at.answer("Well."), never);
    await phone.waits(20_000);
    await sent;
    await phone.hears("listening");
    expect(phone.heard.at(-1)).toEqual({ text: "Well.", by: "voice" });
    expect(at.clock.monotonic()).toBeLessThan(30_000);
  });

  test("is asked for nothing where the platform is to speak", async () => {
    await using at = await fixture({ section: { speaker: "platform" }, speech: fakeSpeech({ speak: true }) });
    const phone = await at.platform.ring(PERSON);
    await at.followUp();
    await phone.hears("over");
    expect(new Set(phone.heard.map(({ by }) => by))).toEqual(new Set(["voice"]));
  });

  test("speaks in calls that are placed too, and its speech goes with the call", async () => {
    await using at = await fixture({ speech: fakeSpeech({ speak: true }) });
    await at.channel.send(at.message("Your train leaves.", { mayOpen: true }), never);
    const phone = at.platform.phoneOf(PERSON);
    const [url] = /http[^<]+\/voice-call\/audio\?id=[\w-]{32}/.exec(at.platform.sent[0]!.twiml)!;
    expect((await fetch(url)).headers.get("content-type")).toBe("audio/mpeg");
    await phone.answers();
    await phone.hears("over");
    expect(phone.heard[0]).toEqual({ text: "Your train leaves.", by: "audio" });
    expect((await fetch(url)).status).toBe(401);
  });

  test("is heard by who knows the id alone", async () => {
    await using at = await fixture({ speech: fakeSpeech({ speak: true }) });
    await at.channel.send(at.message("A secret.", { mayOpen: true }), never);
    for (const query of ["", "?id=", "?id=x", `?id=${"A".repeat(32)}`, "?id=__proto__"]) {
      expect((await fetch(`${at.base}/voice-call/audio${query}`)).status).toBe(401);
    }
  });

  test("that takes time holds the line, and what was asked for meanwhile waits its turn", async () => {
    const gates: PromiseWithResolvers<void>[] = [];
    const speech = {
      ...fakeSpeech({ speak: true }),
      async speak(text: string) {
        const gate = Promise.withResolvers<void>();
        gates.push(gate);
        await gate.promise;
        return { mimeType: "audio/mpeg", bytes: Buffer.from(text) };
      },
    };
    await using at = await fixture({ speech, section: { filler: "" } });
    const phone = await at.platform.ring(PERSON);
    await phone.hears("listening");
    await phone.says("Tell me two things, please, one by one");
    const sent = [at.channel.send(at.answer("One."), never), at.channel.send(at.message("Two."), never)];
    await phone.waits(20_000);
    expect([phone.doing, gates.length]).toEqual(["pausing", 2]);
    // The second is ready first.
    gates[1]!.resolve();
    await phone.waits(3_000);
    expect(phone.doing).toBe("pausing");
    gates[0]!.resolve();
    await sent[0];
    await phone.hears("listening");
    await phone.waits(8_000);
    await sent[1];
    await phone.hears("listening");
    expect(phone.texts.slice(1, 3)).toEqual(["One.", "Two."]);
  });
});

describe("the shelf of speech", () => {
  test("forgets what is old, and what was put there first when there is no room", () => {
    const cache = new AudioCache();
    const old = cache.put(spoken(10), 0);
    const young = cache.put(spoken(10), 1_000_000);
    expect([cache.get(old, 1_199_999)?.bytes.length, cache.get(old, 1_200_000)]).toEqual([10, undefined]);
    const [large, larger] = [
      cache.put(spoken(40 * 1_048_576), 1_300_000),
      cache.put(spoken(40 * 1_048_576), 1_300_000),
    ];
    expect([old, young, large, larger].map((id) => cache.get(id, 1_300_000) !== undefined)).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(cache.count).toBe(1);
    cache.drop(larger);
    cache.drop(larger);
    expect(cache.count).toBe(0);
    expect(new Set(Array.from({ length: 100 }, () => cache.put(spoken(1), 0))).size).toBe(100);
  });
});

describe("a caller who is recorded", () => {
  const section = { recognizer: "transcription" };

  test("is a message with a recording, which is fetched from the platform", async () => {
    await using at = await fixture({ section });
    const phone = await at.platform.ring(PERSON);
    await phone.hears("recording");
    expect(await phone.says("the sound of words")).toBe(true);
    const [message] = at.inbound;
    expect(message).toMatchObject({
      id: `${phone.sid}.1`,
      text: "[audio]",
      media: [{ kind: "audio", placeholder: "[audio]", mimeType: "audio/mpeg" }],
    });
    const chunks: Uint8Array[] = [];
    const fetched = await at.channel.media!.fetch(message!.media![0]!, async (chunk) => void chunks.push(chunk), never);
    expect([Buffer.concat(chunks).toString(), fetched.mimeType]).toEqual(["the sound of words", "audio/mpeg"]);
    await at.channel.send(at.answer("I heard you."), never);
    await phone.hears("recording");
    expect(phone.texts).toEqual([GREETING, "I heard you."]);
    expect(at.platform.warnings).toEqual([]);
  });

  test("whose recording is still being made is waited for", async () => {
    await using at = await fixture({ section });
    const phone = await at.platform.ring(PERSON);
    await phone.hears("recording");
    await phone.says("the sound of words");
    const [file] = at.inbound[0]!.media!;
    at.platform.unfinished.add(file!.ref);
    const fetching = () => at.channel.media!.fetch(file!, async () => undefined, never);
    expect(await failure(fetching())).toMatchObject({ code: "REMOTE_UNREACHABLE", retryAfterMs: 1_000 });
    at.platform.unfinished.clear();
    await fetching();
    at.platform.recordings.clear();
    expect(await failure(fetching())).toMatchObject({ code: "MEDIA_REFUSED" });
  });

  test("is asked once more and left when nothing is said, and hears all parts of an answer", async () => {
    await using at = await fixture({ section });
    const phone = await at.platform.ring(PERSON);
    await phone.hears("recording");
    await phone.says("tell me much");
    const parts = ["One", "Two"].map((name) => `${name}. ${"And so on. ".repeat(35)}`.trim());
    const sent = (async () => {
      for (const part of parts) await at.channel.send(at.answer(part), never);
    })();
    await phone.hears("over");
    await sent;
    expect(phone.texts).toEqual([GREETING, ...parts, "Are you still there?", "Goodbye."]);
  });

  test("answers a question by a key all the same", async () => {
    await using at = await fixture({ section: { ...section, notification_target: PERSON } });
    const prompt = { id: "ap-1", title: "Approve?", message: "Now.", approve: "Approve", reject: "Reject" };
    await at.channel.prompts!.post(at.message("In words."), prompt, never);
    const phone = at.platform.phoneOf(PERSON);
    await phone.answers();
    await phone.hears("listening");
    await phone.presses("2");
    expect(at.inbound).toMatchObject([{ choice: { prompt: "ap-1", approved: false } }]);
  });
});
