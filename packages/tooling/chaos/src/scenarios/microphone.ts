/**
 * A person speaks at a microphone, while the daemon is killed as it captures, transcribes, dispatches or answers. What the person gets no
 * sign of is said again, as people do. A command that is dispatched twice is a door that opens twice.
 * Words are tones here: a recorder program that is ours plays them, and a service tells them apart by their pitch.
 */
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { checkDatabase } from "@svc/store";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { eventually, sleep } from "../fixture/sleep.ts";
import { databaseOf, readDatabase } from "../judge/database.ts";
import { keepEvidence } from "./evidence.ts";
import { fullestOrNone } from "./rooms.ts";
import { notRun, type Report, type ScenarioOptions } from "./scenario.ts";
import { silence, startListener, toneOf, wordsOf } from "./spoken-tones.ts";

const MOMENTS = ["captured", "transcribing", "transcribed", "asked"] as const;
type Moment = (typeof MOMENTS)[number];

const LONGEST_DELAY_MS = 25;
const LONGEST_WAIT_MS = 60_000;
/** Shares of commands after a pause, and of speech to another person. */
const AFTER_A_PAUSE = 0.4;
const TALK = 0.2;

const commandOf = (number: number): string => `message ${number}`;

export async function microphone(options: ScenarioOptions): Promise<Report> {
  const { seed, messages = 60, kills, binary = fullestOrNone(), evidence, say = () => {} } = options;
  if (binary === undefined) {
    return notRun("microphone", seed, { name: "the full build", reason: "dist/all/svc is missing; pnpm build all" });
  }
  const random = seededRandom(seed);
  await using world = await openWorld(binary);
  await world.begin();
  const killedAt = new Set(Array.from({ length: kills }, (_, at) => Math.floor(((at + 0.5) * messages) / kills)));
  const problems: string[] = [];
  const facts = { kills: 0, "said again": 0, "said to another person": 0 };
  const counts = Object.fromEntries(MOMENTS.map((moment) => [moment, 0])) as Record<Moment, number>;
  for (let number = 0; number < messages && problems.length === 0; number += 1) {
    if (random() < TALK) {
      facts["said to another person"] += 1;
      await world.speak(wordsOf(1_000 + number));
    }
    const hasPause = random() < AFTER_A_PAUSE;
    const moment = MOMENTS[Math.floor(random() * MOMENTS.length)]!;
    const killed = killedAt.has(number) ? world.killAt(moment, random() * LONGEST_DELAY_MS) : undefined;
    const isKept = (): boolean => world.stored().includes(commandOf(number));
    if (hasPause) {
      await world.speak(["computer"]);
      await world.speak(wordsOf(number), isKept);
    } else await world.speak(["computer", ...wordsOf(number)], isKept);
    if (killed) {
      // The pipe is the daemon's: what it still had to hear is gone with it.
      const isKilled = await Promise.race([killed.then(() => true), sleep(LONGEST_WAIT_MS).then(() => false)]);
      if (!isKilled) {
        problems.push(`"${commandOf(number)}" was not heard: nothing was ${moment}`);
        break;
      }
      facts.kills += 1;
      counts[moment] += 1;
      say(`kill ${facts.kills} of ${kills}: ${moment}`);
      await world.begin();
      if (!isKept()) {
        facts["said again"] += 1;
        await world.speak(["computer", ...wordsOf(number)], isKept);
      }
    }
    if (!(await eventually(isKept))) problems.push(`"${commandOf(number)}" was not dispatched`);
  }
  const isOver = (): boolean => readDatabase(world.home).messages.every(({ state }) => state !== null);
  if (!(await eventually(isOver))) problems.push("not everything is answered");
  await world.stop();
  const { problems: damage } = await checkDatabase(databaseOf(world.home), {
    quick: false,
    clock: { monotonic: () => performance.now() },
  });
  const wrong = [...problems, ...judge(world.home, messages), ...damage.map((one) => `database: ${one}`)];
  if (wrong.length > 0 && evidence !== undefined) {
    keepEvidence({ home: world.home, lives: world }, join(evidence, "microphone"));
  }
  const moments = MOMENTS.map((moment) => `${moment}: ${counts[moment]}`).join(", ");
  return {
    scenario: "microphone",
    seed,
    problems: wrong,
    facts: { commands: messages, ...facts, "kills, by moment": moments, transcriptions: world.transcriptions() },
  };
}

function judge(home: string, messages: number): string[] {
  const { messages: stored, turns } = readDatabase(home);
  const times = Map.groupBy(stored, ({ text }) => text);
  const problems: string[] = [];
  for (let number = 0; number < messages; number += 1) {
    const count = times.get(commandOf(number))?.length ?? 0;
    if (count !== 1) problems.push(`"${commandOf(number)}" was dispatched ${count} times`);
    times.delete(commandOf(number));
  }
  for (const other of times.keys()) problems.push(`"${other}" was dispatched and nobody said it`);
  for (const { text, state } of stored) if (state !== "done") problems.push(`"${text}" ended as ${state}`);
  if (turns.length !== stored.length) problems.push(`${stored.length} messages have ${turns.length} turns`);
  return problems;
}

/** A program in the place of a recorder. */
const RECORDER = `require("node:net").connect(Number(process.argv[2]), "127.0.0.1").pipe(process.stdout);`;
/** Silence is played in steps of this length. */
const STEP_MS = 60;

async function openWorld(binary: string) {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(temporaryHome());
  const happened = new EventTarget();
  const tell = (moment: Moment): void => void happened.dispatchEvent(new Event(moment));
  const model = stack.use(
    await fakeModelServer({
      script: () => {
        tell("asked");
        return { text: "Done." };
      },
    }),
  );
  const listener = stack.use(await startListener(tell));
  let socket: Socket | undefined;
  const feed = createServer((connection) => {
    socket = connection.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => feed.listen(0, "127.0.0.1", resolve));
  stack.defer(() => {
    socket?.destroy();
    feed.close();
  });
  const recorder = join(home.path, "recorder.cjs");
  writeFileSync(recorder, RECORDER);
  const command = [process.execPath, recorder, String((feed.address() as AddressInfo).port)];
  writeFileSync(join(home.path, "config.toml"), configOf(model.url, listener.url, command), { mode: 0o600 });
  let running: RunningBinary | undefined;
  let output = "";
  stack.defer(async () => running?.close());
  const resources = stack.move();

  const end = async (how: "kill" | "stop"): Promise<void> => {
    const life = running!;
    running = undefined;
    await (how === "kill" ? life.kill9() : life.stop());
    output += life.output();
    socket?.destroy();
    socket = undefined;
  };
  /** False: nobody listens any more. */
  const play = async (samples: Int16Array): Promise<boolean> => {
    if (!socket || socket.destroyed) return false;
    const isFull = !socket.write(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
    if (isFull) await eventually(() => !socket || socket.destroyed || !socket.writableNeedDrain);
    return true;
  };
  return {
    home: home.path,
    async begin() {
      running = await startBinary({ home: home.path, binary });
      if (!(await eventually(() => socket !== undefined))) throw new Error(`nothing records:\n${running.output()}`);
      // How loud the room is by itself.
      await play(silence(2_000));
    },
    stop: () => end("stop"),
    /** Resolves once it is killed: so long after the next of these moments. */
    async killAt(moment: Moment, delayMs: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      happened.addEventListener(moment, () => resolve(), { once: true });
      await promise;
      await sleep(delayMs);
      await end("kill");
    },
    /** Says it, and then nothing until it was transcribed and `isEnough`, or the daemon is gone. */
    async speak(words: readonly string[], isEnough: () => boolean = () => true) {
      const { answered } = listener;
      for (const word of words) {
        if (!(await play(toneOf(word)))) return;
        await sleep(1);
        tell("captured");
      }
      for (const endsAt = performance.now() + LONGEST_WAIT_MS; performance.now() < endsAt;) {
        if (listener.open === 0 && !(await play(silence(STEP_MS)))) return;
        await sleep(5);
        if (listener.open === 0 && listener.answered > answered && isEnough()) return;
        if (running === undefined) return;
      }
    },
    stored: () => readDatabase(home.path).messages.map(({ text }) => text),
    transcriptions: () => listener.answered,
    output: () => output + (running?.output() ?? ""),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const configOf = (model: string, listener: string, recorder: readonly string[]): string => `
[model]
provider = "openai-compatible"
name = "obedient"
base_url = "${model}"

[transcription]
enabled = true
provider = "openai-compatible"
base_url = "${listener}"

[channels_config.voice_wake]
wake_word = "computer"
max_transcriptions_per_hour = 10000
recorder = ${JSON.stringify(recorder)}
`;
