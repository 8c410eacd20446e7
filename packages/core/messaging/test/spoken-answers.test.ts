// An answer that nobody can read because its voice failed, one that is heard twice, one that is spoken to people who wrote, and a
// program that is handed a shell, hangs, or writes something else than sound.
import { type ExecResult, type Inbound, type Media, type OutgoingMessage, SvcError } from "@svc/contract";
import { isOggOpus, wavOf } from "@svc/kit/audio";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import type { ProgramRequest, RunProgram, SpeechSettings } from "../src/index.ts";
import { speak } from "../src/speech/speech.ts";
import { transcribe } from "../src/speech/transcribe.ts";
import { platform } from "./delivery-fixture.ts";
import { failure, text, until } from "@svc/agent/agent-fixture";
import {
  afterKill,
  type MessagingFixture,
  messagingFixture,
  type MessagingFixtureOptions,
  said,
  status,
} from "./messaging-fixture.ts";
import { type Answer, json, speechFixture } from "./speech-fixture.ts";

const WAV = wavOf({ sampleRate: 22_050, samples: new Int16Array(2_205).fill(500) });
const SPEECH: SpeechSettings = {
  baseUrl: "http://unused",
  apiKey: undefined,
  model: "m",
  voice: "v",
  maxChars: 400,
  command: ["piper", "--output_file", "-"],
};

const ended = (more: Partial<ExecResult> = {}): ExecResult => ({
  exitCode: 0,
  signal: null,
  stdout: "",
  stderr: "",
  stdoutBytes: WAV,
  truncated: false,
  timedOut: false,
  ...more,
});

/** A program that speaks, or fails in some way. */
function program(result: () => ExecResult | Promise<ExecResult> = ended) {
  const asked: ProgramRequest[] = [];
  const run: RunProgram = async (request) => {
    asked.push(request);
    return result();
  };
  return { asked, run };
}

const media = (more: Partial<Media> = {}): Media => ({
  maxBytes: 1_000_000,
  sends: ["image", "audio"],
  voiceNotes: true,
  fetch: async (_, write) => {
    await write(new Uint8Array(3));
    return {};
  },
  ...more,
});

const recording: Partial<Inbound> = { media: [{ kind: "audio", ref: "r", placeholder: "[voice message]" }] };

/** What reached the platform: texts, and types of files. */
const shown = (asked: readonly OutgoingMessage[]): string[] =>
  asked.map(
    ({ text: words, files = [] }) => words || files.map(({ kind, mimeType }) => `<${kind} ${mimeType}>`).join(),
  );

function agentFixture(reply: "never" | "voice" | "always", more: MessagingFixtureOptions = {}) {
  const spoken = program();
  const chat = platform({ media: media() });
  const made = messagingFixture({
    chat,
    runProgram: spoken.run,
    think: () => [text("It is **cold**.\n\n- Ice\n- Snow")],
    ...more,
    settings: { speech: SPEECH, spokenAnswers: () => reply, ...more.settings },
  });
  return { made, chat: made.chat, asked: spoken.asked };
}

/** Everything that came in is answered, and nothing waits to be sent; what is loaded and encoded on the way takes real time. */
async function over(made: MessagingFixture): Promise<void> {
  await until(() => {
    const { inbox, outbox } = made.store.inbox.counts();
    return inbox.waiting + outbox.waiting === 0;
  });
}

describe("an answer", () => {
  test.each([
    ["never", recording, false],
    ["voice", {}, false],
    ["voice", recording, true],
    ["always", {}, true],
  ] as const)("with reply = %s to %j is spoken: %s", async (reply, more, isSpoken) => {
    const { made, chat, asked } = agentFixture(reply);
    using _ = made;
    await made.receive(said("how is it?", more));
    await over(made);
    const words = "It is **cold**.\n\n- Ice\n- Snow";
    expect(shown(chat.asked)).toEqual(isSpoken ? [words, "<audio audio/ogg>"] : [words]);
    expect(asked.map(({ command, stdin }) => [command, stdin])).toEqual(
      isSpoken ? [[SPEECH.command, "It is cold.\nIce.\nSnow."]] : [],
    );
  });

  test("that is spoken is a voice note that players know", async () => {
    const { made, chat } = agentFixture("always");
    using _ = made;
    await made.receive(said("how is it?"));
    await over(made);
    const [file] = chat.asked.at(-1)!.files!;
    expect(file!.name).toBe("answer.ogg");
    expect(isOggOpus(await file!.read())).toBe(true);
    expect(made.store.outbox.list({}, 10).map(({ state }) => state)).toEqual(["sent", "sent"]);
  });

  test.each([
    ["takes no sound", { media: media({ sends: ["image"] }) }],
    ["takes no files", {}],
  ])("where the platform %s is text only", async (_, more) => {
    const { made, chat, asked } = agentFixture("always", { chat: platform(more) });
    using _made = made;
    await made.receive(said("how is it?"));
    await over(made);
    expect(shown(chat.asked)).toHaveLength(1);
    expect(asked).toEqual([]);
  });

  test("of code and files alone has nothing to say", async () => {
    const { made, chat, asked } = agentFixture("always", { think: () => [text("```\nx = 1\n```\n[IMAGE:a.png]")] });
    using _ = made;
    await made.receive(said("how is it?"));
    await over(made);
    expect(chat.asked).toHaveLength(1);
    expect(asked).toEqual([]);
  });

  test("that the model fails to give is an apology in text", async () => {
    const { made, chat, asked } = agentFixture("always", {
      think: () => {
        throw status(400);
      },
    });
    using _ = made;
    await made.receive(said("how is it?"));
    await over(made);
    expect(shown(chat.asked)).toHaveLength(1);
    expect(asked).toEqual([]);
  });

  test.each<[string, () => ExecResult | Promise<ExecResult>]>([
    ["is not there", () => ended({ exitCode: 127 })],
    ["fails", () => ended({ exitCode: 1, stderr: "the key is sk-secret" })],
    ["takes too long", () => ended({ exitCode: null, signal: "SIGKILL", timedOut: true })],
    ["writes no sound", () => ended({ stdoutBytes: new TextEncoder().encode("usage: piper") })],
    ["writes nothing", () => ended({ stdoutBytes: new Uint8Array() })],
    ["is in no sandbox", () => Promise.reject(new SvcError("SANDBOX_UNAVAILABLE"))],
    ["throws anything", () => Promise.reject(new Error("sk-secret"))],
  ])("whose program %s is there as text, said once, and the log says why", async (_, result) => {
    const failing = program(result);
    const { made, chat } = agentFixture("always", { runProgram: failing.run });
    using _made = made;
    await made.receive(said("how is it?"));
    await over(made);
    expect(shown(chat.asked)).toEqual(["It is **cold**.\n\n- Ice\n- Snow"]);
    expect(failing.asked).toHaveLength(1);
    expect(made.store.outbox.list({}, 10).map(({ state }) => state)).toEqual(["dropped", "sent"]);
    expect(made.events.map(({ type }) => type)).not.toContain("message-failed");
    const lines = JSON.stringify(made.log.lines);
    expect(lines).toContain("could not be sent as speech");
    expect(lines).toContain("SPEECH_FAILED");
    expect(lines).not.toContain("sk-secret");
    // What comes next is not held up.
    await made.receive(said("and now?"));
    await over(made);
    expect(chat.asked).toHaveLength(2);
  });

  test("whose platform is away is spoken once, however often it is tried", async () => {
    let isAway = true;
    const { made, chat, asked } = agentFixture("always");
    using _ = made;
    chat.mood = ({ files }) => (files && isAway ? new SvcError("REMOTE_UNREACHABLE") : "take");
    await made.receive(said("how is it?"));
    await until(() => chat.asked.length === 2);
    await made.pass(10_000);
    expect(chat.asked.length).toBeGreaterThan(2);
    isAway = false;
    await made.pass(60_000);
    expect(chat.taken).toHaveLength(2);
    expect(asked).toHaveLength(1);
    expect(made.store.outbox.counts()).toMatchObject({ sent: 2, waiting: 0 });
  });

  test("that no other try will take is given up without a dead letter", async () => {
    const { made, chat } = agentFixture("always");
    using _ = made;
    chat.mood = ({ files }) => (files ? new SvcError("DELIVERY_REFUSED") : "take");
    await made.receive(said("how is it?"));
    await over(made);
    expect(made.store.outbox.counts()).toMatchObject({ sent: 1, dead: 0, dropped: 1 });
  });

  test("at any kill is heard once and read once", async () => {
    const { made } = agentFixture("always", { chat: platform({ media: media() }) });
    using _ = made;
    using text = temporaryHome();
    made.chat.mood = ({ files }) => {
      // The text is with the platform, the voice is not.
      if (files) return "hang";
      return "take";
    };
    await made.receive(said("how is it?"));
    await until(() => made.chat.asked.length === 2);
    afterKill(made.folder, text.path);
    const next = agentFixture("always", { folder: text.path });
    using _next = next.made;
    await over(next.made);
    expect([...made.chat.taken, ...shown(next.chat.asked)]).toEqual([
      "It is **cold**.\n\n- Ice\n- Snow",
      "<audio audio/ogg>",
    ]);
    expect(next.asked).toHaveLength(1);
  });

  test("that waits when speech is switched off stays text", async () => {
    const { made, chat } = agentFixture("always");
    using _ = made;
    chat.mood = ({ files }) => (files ? new SvcError("REMOTE_UNREACHABLE") : "take");
    await made.receive(said("how is it?"));
    await until(() => chat.asked.length === 2);
    using folder = temporaryHome();
    afterKill(made.folder, folder.path);
    const next = agentFixture("always", { folder: folder.path, settings: { speech: undefined } });
    using _next = next.made;
    await over(next.made);
    expect(next.chat.asked).toEqual([]);
    expect(next.made.store.outbox.counts()).toMatchObject({ waiting: 0, dropped: 1 });
  });
});

describe("a program that speaks", () => {
  test("finds the text in a file where its arguments ask for one, and is never a line of a shell", async () => {
    const { run, asked } = program();
    await using made = await speechFixture();
    const parts = { fetch: made.fetch, runProgram: run, clock: made.clock, signal: made.leave.signal };
    const command = ["espeak-ng", "--stdout", "-f", "{text}"] as const;
    const spoken = await speak(parts, { ...SPEECH, command }, "$(touch /tmp/x); `id` {text}");
    expect(spoken).toEqual({ mimeType: "audio/wav", bytes: WAV });
    const [{ files, stdin, command: started }] = asked as [ProgramRequest];
    expect(started).toEqual(command);
    expect(new TextDecoder().decode(files["text"]!.bytes)).toBe("$(touch /tmp/x); `id` {text}");
    expect(stdin).toBeUndefined();
  });
});

describe("a service that speaks voice notes", () => {
  const audio =
    (type: string, bytes: Uint8Array): Answer =>
    (_, response) =>
      response.writeHead(200, { "content-type": type }).end(bytes);
  const OPUS = Buffer.concat([Buffer.from("OggS"), Buffer.alloc(24), Buffer.from("OpusHead")]);

  test.each<[string, Answer[], string[], string]>([
    ["makes them itself", [audio("audio/ogg", OPUS)], ["opus"], "audio/ogg"],
    ["knows WAV only", [json(400, {}), audio("audio/wav", WAV)], ["opus", "wav"], "audio/ogg"],
    ["answers with WAV", [audio("audio/wav", WAV), audio("audio/wav", WAV)], ["opus", "wav"], "audio/ogg"],
    ["knows MP3 only", [json(422, {}), json(422, {}), audio("audio/mpeg", OPUS)], ["opus", "wav", "mp3"], "audio/mpeg"],
  ])("%s", async (_, answers, formats, mimeType) => {
    await using made = await speechFixture(...answers);
    const parts = { fetch: made.fetch, runProgram: program().run, clock: made.clock, signal: made.leave.signal };
    const settings = { ...SPEECH, command: undefined, baseUrl: made.baseUrl };
    expect((await speak(parts, settings, "Hello.", "ogg")).mimeType).toBe(mimeType);
    const asked = made.seen.map(({ body }) => (JSON.parse(body) as { response_format: string }).response_format);
    expect(asked).toEqual(formats);
  });
});

describe("a program that transcribes", () => {
  const settings = {
    baseUrl: "http://unused",
    apiKey: undefined,
    model: "m",
    language: undefined,
    maxBytes: 1_000_000,
  };

  async function heard(command: readonly [string, ...string[]], bytes: Uint8Array, result: Partial<ExecResult> = {}) {
    const { run, asked } = program(() => ended({ stdout: " Turn on\n the light. \n", ...result }));
    await using made = await speechFixture();
    const parts = { fetch: made.fetch, runProgram: run, clock: made.clock, signal: made.leave.signal };
    const recorded = { name: "voice.oga", mimeType: "audio/ogg", bytes };
    const told = await transcribe(parts, { ...settings, command }, recorded).catch((error: unknown) => error);
    return { told, files: asked[0]?.files ?? {}, seen: made.seen };
  }

  test("gets the recording as it came, and nothing goes to the network", async () => {
    const { told, files, seen } = await heard(["whisper", "{file}"], new Uint8Array([1, 2, 3]));
    expect(told).toBe("Turn on\nthe light.");
    expect(Object.entries(files).map(([key, { name, bytes }]) => [key, name, [...bytes]])).toEqual([
      ["file", "recording.oga", [1, 2, 3]],
    ]);
    expect(seen).toEqual([]);
  });

  test("gets a voice note as 16 kHz WAV where it asks for that", async () => {
    const { files } = await heard(["whisper-cli", "-f", "{wav}"], WAV);
    const { bytes } = files["wav"]!;
    expect(new DataView(bytes.buffer, bytes.byteOffset).getUint32(24, true)).toBe(16_000);
    const { told } = await heard(["whisper-cli", "-f", "{wav}"], new Uint8Array([255, 251, 0]));
    expect(told).toMatchObject({
      code: "TRANSCRIPTION_FAILED",
      message: expect.stringContaining("neither WAV nor Ogg"),
    });
  });

  test("that hears nothing says nothing", async () => {
    expect((await heard(["w", "{file}"], WAV, { stdout: "\n[BLANK_AUDIO]\n" })).told).toBe("");
  });

  test("that fails is an error of ours with no word of its own", async () => {
    const { told } = await heard(["w", "{file}"], WAV, { exitCode: 2, stderr: "sk-secret" });
    expect(told).toMatchObject({ code: "TRANSCRIPTION_FAILED" });
    expect(JSON.stringify(told)).not.toContain("sk-secret");
    expect(await failure(Promise.reject(told))).toMatchObject({
      hint: expect.stringContaining("transcription.command"),
    });
  });
});
