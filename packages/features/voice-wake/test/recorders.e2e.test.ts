// Each recorder program that may be installed, with the arguments that it is started with, at a real sound system.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "@svc/kit/process";
import { wavOf } from "@svc/kit/audio";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { rmsOf } from "../src/engine.ts";

const SERVER = ["pulseaudio", "paplay"];
const RATE = 16_000;
const LOUD = 8_000;

const folder = temporaryHome();
const isThere = (program: string): boolean => spawnSync(program, ["--version"]).error === undefined;
const hasServer = SERVER.every(isThere);
const env = { XDG_RUNTIME_DIR: folder.path, PULSE_SERVER: `unix:${join(folder.path, "native")}`, HOME: folder.path };
let server: ChildProcess | undefined;
let loudspeaker: ChildProcess | undefined;

beforeAll(async () => {
  if (!hasServer) return;
  const args = ["-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes"];
  const modules = [
    `module-null-sink sink_name=room rate=${RATE} channels=1`,
    `module-native-protocol-unix socket=${join(folder.path, "native")} auth-anonymous=1`,
  ];
  const options = { env: { ...process.env, ...env, PULSE_RUNTIME_PATH: folder.path }, stdio: "ignore" } as const;
  server = spawn("pulseaudio", [...args, ...modules.flatMap((module) => ["-L", module])], options);
  const samples = Int16Array.from({ length: 600 * RATE }, (_, at) => LOUD * Math.sin((2 * Math.PI * 440 * at) / RATE));
  const wav = join(folder.path, "tone.wav");
  writeFileSync(wav, wavOf({ sampleRate: RATE, samples }));
  const hasBegun = (): boolean => spawnSync("pactl", ["info"], options).status === 0;
  await vi.waitUntil(hasBegun, { timeout: 60_000, interval: 50 });
  loudspeaker = spawn("paplay", ["--device=room", wav], options);
});

afterAll(() => {
  loudspeaker?.kill("SIGKILL");
  server?.kill("SIGKILL");
  folder.remove();
});

/** Prints how loud the loudest frame is that it hears, or what it throws. */
const PROGRAM = `
import { framesOf } from ${JSON.stringify(new URL("../src/programs.ts", import.meta.url))};
import { ${rmsOf.name} } from ${JSON.stringify(new URL("../src/engine.ts", import.meta.url))};
const stop = new AbortController();
const clock = { after: () => () => undefined };
let loudest = 0;
let frames = 0;
for await (const frame of framesOf({ device: process.argv[1], recorder: undefined, clock, signal: stop.signal })) {
  loudest = Math.max(loudest, rmsOf(frame));
  frames += 1;
  if (loudest > 0.05 && frames >= 20) stop.abort();
}
console.log(loudest);
`;

test.for([
  ["parec", "room.monitor", "pulseaudio-utils"],
  ["arecord", "pulse", "alsa-utils libasound2-plugins"],
  ["ffmpeg", "pulse", "ffmpeg libasound2-plugins"],
] as const)("%s records what the microphone hears", async ([program, device, packages], context) => {
  const file = await findProgram(program);
  if (!hasServer || file === undefined) {
    const reason = `not on PATH; apt-get install pulseaudio ${packages}`;
    requireReal(context, { name: program, reason, tier: "B" });
  }
  // No other recorder is found.
  const bin = join(folder.path, program);
  mkdirSync(bin);
  symlinkSync(file, join(bin, program));
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module-typescript", "--eval", PROGRAM, device],
    {
      env: { ...env, PATH: bin, PULSE_SOURCE: "room.monitor" },
      encoding: "utf8",
      cwd: import.meta.dirname,
      timeout: 60_000,
    },
  );
  expect({ loud: Number(stdout) > 0.05, stderr }).toEqual({ loud: true, stderr: "" });
});
