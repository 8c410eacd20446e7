// Answers by voice on the whole binary: a program of this machine speaks in the sandbox, a voice note arrives beside its text, a kill in
// between repeats nothing, and a program that is not there, or that would be let loose, takes no word from anybody.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isOggOpus, oggOpusOf, readOggOpus, readWav } from "@svc/kit/audio";
import { type TelegramPlatform, startTelegram, TELEGRAM_TOKEN } from "@svc/testkit/platforms/telegram/server";
import { privateChat, telegramMessage } from "@svc/testkit/platforms/telegram/update";
import { type FakeModelServer, fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

const PERSON = "5551001";
const WAIT = { timeout: 60_000, interval: 20 };
const ANSWER = "The **light** in the kitchen is on.";
/** As the platform shows it, and as it is spoken. */
const WORDS = "The light in the kitchen is on.";
const { signal } = new AbortController();

let home: ReturnType<typeof temporaryHome>;
let tools: string;
let platform: TelegramPlatform;
let model: FakeModelServer;
let daemon: RunningBinary;
let messages = 0;

/** A program that speaks: a tone as long as its text. */
const SPEAKER = `#!/usr/bin/env python3
import math, struct, sys
text = sys.stdin.read()
samples = [int(8000 * math.sin(at * 0.17)) for at in range(400 * max(1, len(text)))]
data = struct.pack("<%dh" % len(samples), *samples)
head = b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 16000, 32000, 2, 16)
sys.stdout.buffer.write(head + b"data" + struct.pack("<I", len(data)) + data)
`;

/** A program that hears: says how long the sound is. */
const LISTENER = `#!/usr/bin/env python3
import sys, wave
with wave.open(sys.argv[1]) as sound:
    print("heard %d Hz for %.1f s" % (sound.getframerate(), sound.getnframes() / sound.getframerate()))
`;

function config(speech: string): void {
  writeFileSync(
    join(home.path, "config.toml"),
    `[gateway]
port = 0

[model]
provider = "openai-compatible"
name = "fake"
base_url = "${model.url}"
max_retries = 0

[security.sandbox]
readable = ["${tools}"]

${speech}

[channels_config.telegram]
bot_token = "${TELEGRAM_TOKEN}"
allowed_users = ["${PERSON}"]
api_url = "${platform.apiUrl}"
stream_mode = "off"
`,
    { mode: 0o600 },
  );
}

const speaking = (command: readonly string[], more = ""): string => `[tts]
enabled = true
provider = "command"
command = ${JSON.stringify(command)}
${more}`;

/** A question, or a voice note in its place. */
function write(voice?: string): void {
  messages += 1;
  const content = voice
    ? { more: { voice: { file_id: voice, file_unique_id: `u-${voice}`, duration: 1, mime_type: "audio/ogg" } } }
    : { text: "is it on?" };
  const chat = privateChat(PERSON);
  platform.push({
    message: telegramMessage({ id: String(messages), from: PERSON, atMs: Date.now(), chat, ...content }),
  });
}

/** What people see from here on: texts, and kinds of files. */
const seenSince = (before: number): string[] =>
  platform.sent.slice(before).map(({ text, file }) => (file ? `<${file.kind}>` : text));

async function reload(speech: string): Promise<void> {
  config(speech);
  const { code, stderr } = await runBinary(["reload"], { home: home.path });
  expect([code, stderr]).toEqual([0, expect.anything()]);
}

beforeAll(async () => {
  home = temporaryHome();
  tools = mkdtempSync(join(tmpdir(), "svc-speech-tools-"));
  chmodSync(tools, 0o755);
  for (const [name, text] of Object.entries({ speaker: SPEAKER, listener: LISTENER })) {
    writeFileSync(join(tools, name), text, { mode: 0o755 });
  }
  platform = await startTelegram();
  platform.chats.add({ id: Number(PERSON), type: "private", first_name: "Ada" });
  model = await fakeModelServer({ script: () => ({ text: ANSWER }) });
  config(speaking([join(tools, "speaker")], 'reply = "voice"'));
  daemon = await startBinary({ home: home.path });
  await daemon.waitFor(/the platform knows this channel/);
});

afterAll(async () => {
  await daemon?.close();
  await platform?.close();
  await model?.close();
  home?.remove();
  rmSync(tools, { recursive: true, force: true });
});

const hasPython = (): boolean => spawnSync("python3", ["--version"]).status === 0;

test("a voice message is heard and answered by programs of this machine, in a voice note beside the text", async (context) => {
  if (!hasPython()) requireReal(context, { name: "python3", reason: "python3 is not on PATH" });
  await reload(`${speaking([join(tools, "speaker")], 'reply = "voice"')}
[transcription]
enabled = true
provider = "command"
command = ["${join(tools, "listener")}", "{wav}"]
`);
  const before = platform.sent.length;
  write();
  await vi.waitFor(() => expect(seenSince(before)).toEqual([WORDS]), WAIT);
  const sound = { sampleRate: 24_000, samples: new Int16Array(36_000).fill(900) };
  const ref = platform.files.host(await oggOpusOf(sound, signal), "voice/file_1.oga");
  write(ref);
  await vi.waitFor(() => expect(seenSince(before)).toEqual([WORDS, WORDS, "<voice>"]), WAIT);
  expect(lastAsked(model.requests.at(-1)!)).toContain("Transcript of this recording: heard 16000 Hz for 1.5 s");
  const { bytes, name } = platform.sent.at(-1)!.file!;
  expect(name).toBe("answer.ogg");
  const heard = await readOggOpus(bytes, { sampleRate: 16_000, maxSecs: 60 }, signal);
  // 0.025 s for each character.
  expect(heard.samples.length / 16_000).toBeCloseTo(WORDS.length * 0.025, 1);
  expect(model.requests.every(({ body }) => !JSON.stringify(body).includes("OggS"))).toBe(true);
});

const lastAsked = ({ body }: ModelRequest): string => JSON.stringify((body["messages"] as unknown[]).at(-1));

test("after a kill -9 between text and voice, each is there once", async (context) => {
  if (!hasPython()) requireReal(context, { name: "python3", reason: "python3 is not on PATH" });
  // The program waits for a file that the test makes.
  const gate = join(tools, "gate");
  const slow = join(tools, "slow");
  writeFileSync(slow, `#!/bin/sh\nwhile [ ! -e ${gate} ]; do sleep 0.05; done\nexec ${join(tools, "speaker")}\n`, {
    mode: 0o755,
  });
  await reload(speaking([slow], 'reply_in = { telegram = "always" }'));
  const before = platform.sent.length;
  write();
  await vi.waitFor(() => expect(seenSince(before)).toEqual([WORDS]), WAIT);
  await vi.waitFor(async () => expect(await outgoing()).toContain("waiting"), WAIT);
  await daemon.kill9();
  writeFileSync(gate, "");
  daemon = await startBinary({ home: home.path });
  await vi.waitFor(() => expect(seenSince(before)).toEqual([WORDS, "<voice>"]), WAIT);
  await vi.waitFor(async () => expect(await outgoing()).not.toContain("waiting"), WAIT);
  expect(seenSince(before)).toEqual([WORDS, "<voice>"]);
});

async function outgoing(): Promise<string[]> {
  const { stdout } = await runBinary(["inbox", "list", "--box", "out", "--json"], { home: home.path });
  return (JSON.parse(stdout) as { messages: { state: string }[] }).messages.map(({ state }) => state);
}

test("a program that is not there leaves the text, a line in the log, and nothing dead", async () => {
  await reload(speaking(["/nowhere/piper"], 'reply = "always"'));
  const before = platform.sent.length;
  write();
  await vi.waitFor(() => expect(seenSince(before)).toEqual([WORDS]), WAIT);
  await daemon.waitFor(/could not be sent as speech/);
  await vi.waitFor(async () => expect((await outgoing())[0]).toBe("dropped"), WAIT);
  expect(await outgoing()).not.toContain("dead");
  expect(seenSince(before)).toEqual([WORDS]);
});

test("a program sees neither the home nor the environment of the service", async (context) => {
  const { stdout } = await runBinary(["status", "--json"], { home: home.path });
  const { sandbox } = JSON.parse(stdout) as { sandbox: { confined: boolean } };
  if (!sandbox.confined) requireReal(context, { name: "a sandbox", reason: "no sandbox is in force here" });
  const spy = join(tools, "spy");
  writeFileSync(
    spy,
    `#!/bin/sh\ncat ${home.path}/config.toml ${home.path}/state/* >stolen 2>/dev/null\nenv >>stolen\ncat stolen\n`,
    {
      mode: 0o755,
    },
  );
  await reload(`${speaking([join(tools, "speaker")], 'reply = "never"')}
[transcription]
enabled = true
provider = "command"
command = ["${spy}", "{file}"]
`);
  const before = model.requests.length;
  const ref = platform.files.host(Buffer.from("OggS"), "voice/file_2.oga");
  write(ref);
  await vi.waitFor(() => expect(model.requests.length).toBe(before + 1), WAIT);
  const told = lastAsked(model.requests.at(-1)!);
  expect(told).toContain("PATH=");
  expect(told).not.toContain(TELEGRAM_TOKEN.slice(0, 8));
  expect(told).not.toContain("SVC_HOME");
});

test("espeak-ng speaks words that are the same in the voice note", async (context) => {
  if (spawnSync("espeak-ng", ["--version"]).status !== 0) {
    requireReal(context, { name: "espeak-ng", reason: "espeak-ng is not on PATH; apt-get install espeak-ng" });
  }
  await reload(speaking(["espeak-ng", "--stdout", "-f", "{text}"], 'reply = "always"'));
  const before = platform.sent.length;
  write();
  await vi.waitFor(() => expect(seenSince(before)).toEqual([WORDS, "<voice>"]), WAIT);
  const { bytes } = platform.sent.at(-1)!.file!;
  expect(isOggOpus(bytes)).toBe(true);
  const spoken = readWav(execFileSync("espeak-ng", ["--stdout", WORDS]))!;
  const heard = await readOggOpus(bytes, { sampleRate: 24_000, maxSecs: 60 }, signal);
  expect(heard.samples.length / 24_000).toBeCloseTo(spoken.samples.length / spoken.sampleRate, 1);
});
