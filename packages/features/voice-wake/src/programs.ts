/** The programs that record and play, from the installed sound system. Samples of 16 bits go through their pipes. */
import { type ChildProcess, spawn } from "node:child_process";
import { type Clock, SvcError } from "@svc/contract";
import { findProgram } from "@svc/kit/process";
import { FRAME_SAMPLES, SAMPLE_RATE } from "./engine.ts";

type Command = readonly [string, ...string[]];

const RATE = String(SAMPLE_RATE);

/** In the order in which they are looked for. */
const RECORDERS: readonly ((device: string | undefined) => Command)[] = [
  (device) => [
    "parec",
    "--raw",
    "--format=s16le",
    `--rate=${RATE}`,
    "--channels=1",
    "--latency-msec=30",
    ...(device === undefined ? [] : [`--device=${device}`]),
  ],
  (device) => [
    ...(["arecord", "-q", "-t", "raw", "-f", "S16_LE", "-r", RATE, "-c", "1"] as const),
    ...(device === undefined ? [] : ["-D", device]),
  ],
  (device) => [
    ...(["ffmpeg", "-nostdin", "-loglevel", "error"] as const),
    ...(process.platform === "darwin" ? ["-f", "avfoundation", "-i", `:${device ?? "0"}`] : []),
    ...(process.platform === "darwin" ? [] : ["-f", "alsa", "-i", device ?? "default"]),
    "-ac",
    "1",
    "-ar",
    RATE,
    "-f",
    "s16le",
    "-",
  ],
];

const PLAYERS: readonly ((rate: number) => Command)[] = [
  (rate) => ["pacat", "--playback", "--raw", "--format=s16le", `--rate=${rate}`, "--channels=1"],
  (rate) => ["aplay", "-q", "-t", "raw", "-f", "S16_LE", "-r", String(rate), "-c", "1"],
  (rate) => ["ffplay", "-nodisp", "-autoexit", "-loglevel", "error", "-f", "s16le", "-ar", String(rate), "-i", "-"],
];

/** Undefined where none is installed. */
async function installed(commands: readonly Command[]): Promise<Command | undefined> {
  for (const [name, ...more] of commands) {
    const file = await findProgram(name);
    if (file !== undefined) return [file, ...more];
  }
  return undefined;
}

/** What programs of a sound system need to find it, and nothing else of ours. */
const ENVIRONMENT = [
  "PATH",
  "HOME",
  "LANG",
  "XDG_RUNTIME_DIR",
  "XDG_CONFIG_HOME",
  "DBUS_SESSION_BUS_ADDRESS",
  "PULSE_SERVER",
  "PULSE_COOKIE",
  "PULSE_RUNTIME_PATH",
  "PULSE_SOURCE",
  "PULSE_SINK",
  "PIPEWIRE_REMOTE",
  "ALSA_CONFIG_PATH",
] as const;

function started([file, ...args]: Command, stdio: ["pipe" | "ignore", "pipe" | "ignore", "ignore"]): ChildProcess {
  const env = Object.fromEntries(
    ENVIRONMENT.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
  return spawn(file, args, { stdio, env });
}

export interface Recording {
  readonly device: string | undefined;
  /** In place of those that are looked for. */
  readonly recorder: readonly string[] | undefined;
  readonly clock: Pick<Clock, "after">;
  readonly signal: AbortSignal;
}

/** A microphone tells silence, too: one that tells nothing is gone. */
const STALLED_MS = 10_000;

/**
 * Frames as they come, until the signal is aborted: then it just ends. Throws CHANNEL_DOWN when there is no recorder, or it ends or
 * stalls by itself.
 */
export async function* framesOf({ device, recorder, clock, signal }: Recording): AsyncGenerator<Int16Array> {
  const command = recorder
    ? ([...recorder] as unknown as Command)
    : await installed(RECORDERS.map((make) => make(device)));
  if (!command) throw noRecorder();
  const child = started(command, ["ignore", "pipe", "ignore"]);
  const failed = new Promise<void>((resolve) => child.once("error", () => resolve()));
  const stop = (): void => void child.kill("SIGTERM");
  signal.addEventListener("abort", stop, { once: true });
  let isStalled = false;
  const watch = (): (() => void) =>
    clock.after(STALLED_MS, () => {
      isStalled = true;
      child.kill("SIGKILL");
    });
  let cancel = watch();
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of child.stdout! as AsyncIterable<Buffer>) {
      cancel();
      cancel = watch();
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let at = 0;
      for (; at + FRAME_SAMPLES * 2 <= rest.length; at += FRAME_SAMPLES * 2) yield frameAt(rest, at);
      rest = rest.subarray(at);
    }
    if (signal.aborted) return;
    throw await ended(child, failed, isStalled);
  } finally {
    cancel();
    signal.removeEventListener("abort", stop);
    child.kill("SIGKILL");
  }
}

function frameAt(bytes: Buffer, from: number): Int16Array {
  const frame = new Int16Array(FRAME_SAMPLES);
  for (let at = 0; at < FRAME_SAMPLES; at += 1) frame[at] = bytes.readInt16LE(from + at * 2);
  return frame;
}

const noRecorder = (): SvcError =>
  new SvcError("CHANNEL_DOWN", "No recorder program is installed.", {
    hint: "Install pulseaudio-utils (parec), alsa-utils (arecord) or ffmpeg, or set channels_config.voice_wake.recorder.",
  });

async function ended(child: ChildProcess, failed: Promise<void>, isStalled: boolean): Promise<SvcError> {
  if (isStalled) return new SvcError("CHANNEL_DOWN", "The recorder program has sent no sound for ten seconds.");
  const exit = new Promise<string>((resolve) => {
    if (child.exitCode !== null) resolve(`with status ${child.exitCode}`);
    child.once("exit", (code, signal) => resolve(code === null ? `by ${signal}` : `with status ${code}`));
  });
  const how = await Promise.race([exit, failed.then(() => undefined)]);
  if (how === undefined) return noRecorder();
  return new SvcError("CHANNEL_DOWN", `The recorder program ended ${how}.`, {
    hint: "Is there a microphone, and is channels_config.voice_wake.device its name? pactl list short sources and arecord -L list them.",
  });
}

/** Resolves when it has been played. Throws CHANNEL_CANNOT where nothing plays it. */
export async function play(
  { samples, sampleRate }: { readonly samples: Int16Array; readonly sampleRate: number },
  signal: AbortSignal,
): Promise<void> {
  const command = await installed(PLAYERS.map((make) => make(sampleRate)));
  if (!command) {
    throw new SvcError("CHANNEL_CANNOT", "No program that plays sound is installed.", {
      hint: "Install pulseaudio-utils (pacat), alsa-utils (aplay) or ffmpeg (ffplay).",
    });
  }
  signal.throwIfAborted();
  const child = started(command, ["pipe", "ignore", "ignore"]);
  const stop = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", stop, { once: true });
  try {
    const exit = new Promise<number | null>((resolve) => {
      child.once("error", () => resolve(null));
      child.once("exit", (code) => resolve(code));
    });
    child.stdin!.on("error", () => undefined).end(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
    const code = await exit;
    signal.throwIfAborted();
    if (code !== 0) throw new SvcError("CHANNEL_CANNOT", "The program that plays sound failed.");
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
