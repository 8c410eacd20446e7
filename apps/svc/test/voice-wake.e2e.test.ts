// A microphone on the whole binary: commands that are lost or cut, words that were meant for somebody else, a machine that answers
// itself. Spoken by espeak-ng in a room with the noise of sox, heard by a service that knows the sentences by their sound.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { wavOf } from "@svc/kit/audio";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { type FakeModelServer, fakeModelServer } from "@svc/testkit/fake-model/server";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  joined,
  type Listener,
  missingVoices,
  RATE,
  roomOf,
  silence,
  spoken,
  startListener,
} from "./spoken-sentences.ts";

const WAIT = { timeout: 60_000, interval: 20 };
/** Of each kind; all of them in `npm run test:all`. */
const COUNT = process.env["SVC_CASES"] === "all" ? 20 : 3;

const AT_ONCE = [
  "turn on the light in the kitchen",
  "what is the weather tomorrow",
  "play some quiet music",
  "set a timer for ten minutes",
  "close the blinds in the bedroom",
  "read my last message",
  "add milk to the shopping list",
  "wake me at seven in the morning",
  "how long is the drive to work",
  "call the office",
  "switch off the television",
  "what did I miss today",
  "remind me to water the plants",
  "make the living room warmer",
  "who is at the front door",
  "start the washing machine",
  "tell me a story about a dragon",
  "open the garage",
  "how many eggs are left",
  "stop the music",
].slice(0, COUNT);
const AFTER_A_PAUSE = [
  "dim the lamps in the hall",
  "what time is it in Tokyo",
  "skip this song",
  "cancel the alarm",
  "lock the back door",
  "write down that the key is under the mat",
  "order more coffee",
  "when does the bus leave",
  "find a recipe for pancakes",
  "book a table for two",
  "turn the heating down",
  "what is on my calendar",
  "send a letter to my sister",
  "make the screen brighter",
  "is the oven still hot",
  "begin the vacuum cleaner",
  "sing a birthday song",
  "shut the window",
  "where did I park the car",
  "repeat the news",
].slice(0, COUNT);
const NOT_FOR_IT = [
  "the dog wants to go outside",
  "dinner is almost ready",
  "have you seen my glasses",
  "we should visit them on Sunday",
  "the game starts at nine",
  "I left the book upstairs",
  "somebody ate the last cookie",
  "that was a very long meeting",
  "your mother called this afternoon",
  "it rained all night long",
  "the neighbours are away again",
  "put your shoes on please",
  "I think the soup needs salt",
  "they moved to another city",
  "where are the scissors",
  "she plays the violin quite well",
  "nobody likes that movie",
  "take the umbrella with you",
  "my phone is out of power",
  "let us go for a walk",
].slice(0, COUNT);

/** A program in the place of a recorder: it hands on what the test plays. */
const FEEDER = `require("node:net").connect(Number(process.argv[2]), "127.0.0.1").pipe(process.stdout);`;

const missing = missingVoices();
let home: ReturnType<typeof temporaryHome>;
let listener: Listener;
let model: FakeModelServer;
let daemon: RunningBinary;
let token: string;
let microphone: Socket;
const feed = createServer();
const connected = new Promise<void>((resolve) => {
  feed.on("connection", (socket) => {
    microphone = socket;
    resolve();
  });
});

const sections = (more: string, tts = ""): string => `[gateway]
port = 0

[model]
provider = "openai-compatible"
name = "fake"
base_url = "${model.url}"
max_retries = 0

[transcription]
enabled = true
provider = "openai-compatible"
base_url = "${listener.url}"
${tts}

[channels_config.voice_wake]
wake_word = "computer"
max_transcriptions_per_hour = 1000
price_per_minute = 0.006
${more}
`;

beforeAll(async () => {
  if (missing) return;
  home = temporaryHome();
  model = await fakeModelServer({ script: () => ({ text: "Computer says: the light is on." }) });
  const texts = [...AT_ONCE.map((text) => `computer, ${text}`), "computer", ...AFTER_A_PAUSE, ...NOT_FOR_IT];
  listener = await startListener(texts);
  await new Promise<void>((resolve) => feed.listen(0, "127.0.0.1", resolve));
  const feeder = join(home.path, "feeder.cjs");
  writeFileSync(feeder, FEEDER);
  const recorder = JSON.stringify([process.execPath, feeder, String((feed.address() as AddressInfo).port)]);
  writeFileSync(join(home.path, "config.toml"), sections(`recorder = ${recorder}`), { mode: 0o600 });
  daemon = await startBinary({ home: home.path, binary: fullestBinaryPath() });
  token = await daemon.pair();
  await connected;
}, 240_000);

afterAll(async () => {
  await daemon?.close();
  await listener?.[Symbol.asyncDispose]();
  await model?.close();
  feed.close();
  home?.remove();
});

beforeEach((context) => {
  if (missing) requireReal(context, missing);
});

interface Report {
  readonly state: string;
  readonly transcriptions: number;
  readonly cost_usd: number | null;
  readonly dispatched: number;
}

const report = async (): Promise<Report> =>
  (await daemon.request("/api/voice-wake", { token })).json() as Promise<Report>;

/** What the model was asked from here on. */
const askedSince = (before: number): string[] =>
  model.requests
    .slice(before)
    .map(({ body }) =>
      (body["messages"] as { role: string; content: string }[]).findLast(({ role }) => role === "user")!,
    )
    .map(({ content }) => content);

type Room = (samples: Int16Array) => Int16Array;

/** Plays it in the room, and resolves when all of it was heard and nothing is being transcribed. */
async function play(room: Room, samples: Int16Array): Promise<void> {
  await hand(room(samples));
  // What is in pipes on the way is heard when more comes. Time goes on at least as fast as for a person.
  for (let quiet = 0; quiet < 5;) {
    await hand(room(silence(30)));
    await new Promise((resolve) => setTimeout(resolve, 10));
    const { state } = await report();
    quiet = listener.open === 0 && (state === "listening" || state === "triggered") ? quiet + 1 : 0;
  }
}

const hand = (samples: Int16Array): Promise<void> =>
  new Promise((resolve, reject) => {
    const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
    microphone.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

const NOISES = [roomAt("brownnoise", 0.0005), roomAt("pinknoise", 0.006), roomAt("whitenoise", 0.015)] as const;

function roomAt(kind: Parameters<typeof roomOf>[0], rms: number): Room {
  return missing ? (samples: Int16Array) => samples : roomOf(kind, rms);
}

describe("in a room with noise", () => {
  test("commands behind the wake word are dispatched whole, and nothing else is", async () => {
    const whole: string[] = [];
    const wrong: string[] = [];
    const count = { atOnce: 0, afterAPause: 0 };
    let room: Room | undefined;
    const say = async (place: number, sound: Int16Array, expected: string | undefined): Promise<boolean> => {
      const before = model.requests.length;
      const next = NOISES[Math.floor((place * NOISES.length) / COUNT)]!;
      // Another room sounds like speech, until its noise is known.
      if (next !== room) await play(next, silence(4_000));
      room = next;
      // So long that the wake word before is forgotten.
      await play(room, silence(9_000));
      await play(room, joined(sound, silence(2_500)));
      const dispatched = (await report()).dispatched;
      await vi.waitFor(() => expect(model.requests).toHaveLength(dispatched), WAIT);
      const said = askedSince(before);
      if (expected !== undefined && said.length === 1 && said[0] === expected) whole.push(expected);
      else wrong.push(...said.map((text) => `${expected ?? "nothing"} → ${text}`));
      return said.length === 1 && said[0] === expected;
    };
    for (const [place, text] of AT_ONCE.entries()) {
      if (await say(place, await spoken(`computer, ${text}`), text)) count.atOnce += 1;
    }
    for (const [place, text] of AFTER_A_PAUSE.entries()) {
      const sound = joined(await spoken("computer"), silence(2_000 + place * 100), await spoken(text));
      if (await say(place, sound, text)) count.afterAPause += 1;
    }
    const before = wrong.length;
    for (const [place, text] of NOT_FOR_IT.entries()) await say(place, await spoken(text), undefined);
    const { transcriptions, cost_usd: cost } = await report();
    console.log(
      `${count.atOnce}/${COUNT} in one breath, ${count.afterAPause}/${COUNT} after a pause, ` +
        `${wrong.length - before} false of ${COUNT}; ${transcriptions} transcriptions, $${cost}; ${wrong.join("; ")}`,
    );
    expect(whole.length).toBeGreaterThanOrEqual(2 * COUNT - (COUNT === 20 ? 2 : 0));
    expect(wrong.length - before).toBeLessThanOrEqual(COUNT === 20 ? 1 : 0);
    expect(listener.mostOpen).toBe(1);
    expect(transcriptions).toBeGreaterThanOrEqual(3 * COUNT);
    expect(cost).toBeGreaterThan(0);
  }, 600_000);
});

describe("at a sound card", () => {
  /** PulseAudio with one loudspeaker whose monitor is the microphone. */
  async function soundSystem(folder: string): Promise<{ server: ChildProcess; env: Record<string, string> }> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const socket = join(folder, "native");
    const env = { PATH: process.env["PATH"] ?? "", HOME: folder, XDG_RUNTIME_DIR: folder, PULSE_RUNTIME_PATH: folder };
    const args = ["-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes"];
    const modules = [
      "module-null-sink sink_name=room rate=16000 channels=1",
      `module-native-protocol-unix socket=${socket} auth-anonymous=1`,
    ];
    const server = spawn("pulseaudio", [...args, ...modules.flatMap((module) => ["-L", module])], {
      env,
      stdio: "ignore",
    });
    await vi.waitFor(() => expect(existsSync(socket)).toBe(true), WAIT);
    return { server, env: { PULSE_SERVER: `unix:${socket}`, PULSE_SINK: "room", XDG_RUNTIME_DIR: folder } };
  }

  test("a command is heard, its answer is spoken aloud, and not heard as a command", async (context) => {
    if (["pulseaudio", "parec", "pacat"].some((program) => spawnSync(program, ["--version"]).error)) {
      const reason = "not on PATH; apt-get install pulseaudio pulseaudio-utils";
      requireReal(context, { name: "PulseAudio", reason });
    }
    using own = temporaryHome();
    const { server, env } = await soundSystem(join(own.path, "pulse"));
    const tts =
      '[tts]\nenabled = true\nprovider = "command"\ncommand = ["espeak-ng", "--stdout", "-f", "{text}"]\nplay = true\n';
    writeFileSync(join(own.path, "config.toml"), sections('device = "room.monitor"', tts), { mode: 0o600 });
    await using here = await startBinary({ home: own.path, env, binary: fullestBinaryPath() });
    try {
      const own1 = await here.pair();
      const state = async (): Promise<Report> =>
        (await here.request("/api/voice-wake", { token: own1 })).json() as Promise<Report>;
      await vi.waitFor(async () => expect((await state()).state).toBe("listening"), WAIT);
      const checked = await runBinary(["channels", "test", "voice_wake"], {
        home: own.path,
        binary: fullestBinaryPath(),
      });
      expect(checked.stdout).toContain("room.monitor");
      const before = model.requests.length;
      const say = async (text: string): Promise<void> => {
        const wav = join(own.path, "said.wav");
        const samples = joined(silence(1_000), await spoken(`computer, ${text}`), silence(2_500));
        writeFileSync(wav, wavOf({ sampleRate: RATE, samples }));
        expect(spawnSync("paplay", ["--device=room", wav], { env: { ...process.env, ...env } }).status).toBe(0);
      };
      const playing = (): boolean =>
        String(spawnSync("pactl", ["list", "sink-inputs"], { env: { ...process.env, ...env } }).stdout).includes(
          "pacat",
        );
      await say(AT_ONCE[0]!);
      await vi.waitFor(() => expect(askedSince(before)).toEqual([AT_ONCE[0]]), WAIT);
      // The loudspeaker says "Computer says: the light is on.", which begins with the wake word.
      await vi.waitFor(() => expect(playing()).toBe(true), WAIT);
      await vi.waitFor(() => expect(playing()).toBe(false), WAIT);
      await say(AT_ONCE[1]!);
      await vi.waitFor(() => expect(askedSince(before)).toContain(AT_ONCE[1]), WAIT);
      expect(askedSince(before)).toEqual([AT_ONCE[0], AT_ONCE[1]]);
      expect((await state()).dispatched).toBe(2);
    } finally {
      server.kill("SIGKILL");
    }
  }, 240_000);
});
