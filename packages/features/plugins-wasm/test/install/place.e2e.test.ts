// A plugin's place has the old plugin or the new one, whole, whatever ends the process that changes it: a kill at any instant, a disk
// that is full in the middle. What is left over is cleared by the next change.
import { captureLogger } from "@svc/testkit/capture-logger";
import { requireReal } from "@svc/testkit/require-real";
import { type TemporaryHome, temporaryHome } from "@svc/testkit/temporary-home";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { watch } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readPlugins } from "../../src/installed.ts";
import { plugin } from "./fixture.ts";
import { sampleWasm, writeSample } from "./sample.ts";

let home: TemporaryHome;
let plugins = "";
beforeEach(() => {
  home = temporaryHome();
  plugins = join(home.path, "plugins");
});
afterEach(() => home.remove());

/** Changes one plugin's version up and down for ever, or adds and removes it. */
const CHURN = `
const [command, home, ...sources] = process.argv.slice(1);
const { plugin } = await import(command);
for (let turn = 0; ; turn += 1) {
  const { end, error } = await plugin(["install", sources[turn % sources.length]], { home, answers: [true] });
  if (end !== 0) { console.error(error); process.exit(1); }
  if (process.env.REMOVES) await plugin(["remove", "weather"], { home, options: { yes: true } });
  process.stdout.write(turn + "\\n");
}`;

function churn(sources: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  const fixture = new URL("./fixture.ts", import.meta.url).href;
  const args = ["--input-type=module", "--eval", CHURN, fixture, home.path, ...sources];
  return spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });
}

/** After it has begun to change things, and then at any instant, or as soon as it is seen to write. */
async function killed(child: ChildProcess, when: number | "writing"): Promise<void> {
  const ended = new Promise((resolve) => child.once("close", resolve));
  await new Promise((resolve) => child.stdout!.once("data", resolve));
  if (when === "writing") await seen((name) => name.startsWith(".staged-"));
  else await setTimeout(when);
  child.kill("SIGKILL");
  await ended;
  expect(child.signalCode).toBe("SIGKILL");
}

async function seen(isIt: (name: string) => boolean): Promise<void> {
  for await (const { filename } of watch(plugins)) if (isIt(filename ?? "")) return;
}

const found = async (): Promise<{ names: string[]; problems: string[] }> => {
  const read = await readPlugins(plugins, captureLogger());
  return {
    names: read.plugins.map(({ name, version }) => `${name} ${version}`),
    problems: read.problems.map(({ problem }) => problem),
  };
};
const leftovers = (): string[] =>
  readdirSync(plugins, { recursive: true, encoding: "utf8" }).filter((path) => path.includes(".staged-"));

/** Large enough that writing it takes some of the time. */
const LARGE = Buffer.concat([
  sampleWasm(),
  Buffer.from([0, 0x82, 0x80, 0x80, 0x04, 1, 0x78]),
  Buffer.alloc(8 * 1024 * 1024),
]);

test("killed at any instant, again and again, there is the old plugin or the new one", async () => {
  const sources = ["1.0.0", "2.0.0"].map((version) => writeSample(join(home.path, version), { version, wasm: LARGE }));
  let leftBehind = 0;
  for (let kill = 0; kill < 12 || (leftBehind < 3 && kill < 60); kill += 1) {
    // What a killed one left must not stop the next, which begins with it.
    await killed(churn(sources), kill % 2 === 0 ? "writing" : (kill * 97) % 250);
    const { names, problems } = await found();
    expect(problems).toEqual([]);
    expect([["weather 1.0.0"], ["weather 2.0.0"]]).toContainEqual(names);
    leftBehind += leftovers().length > 0 ? 1 : 0;
  }
  expect(leftBehind, "kills that came while a plugin was written").toBeGreaterThanOrEqual(3);
  const other = writeSample(join(home.path, "other"), { name: "other" });
  expect((await plugin(["install", other], { home: home.path, answers: [true] })).end).toBe(0);
  expect(leftovers()).toEqual([]);
  expect(readdirSync(join(plugins, "weather"))).toHaveLength(2);
});

test("killed between adding and removing, there is the whole plugin or none", async () => {
  const source = writeSample(join(home.path, "source"), { wasm: LARGE });
  for (let kill = 0; kill < 5; kill += 1) {
    await killed(churn([source], { REMOVES: "1" }), (kill * 97) % 250);
    const { names, problems } = await found();
    expect(problems).toEqual([]);
    expect([["weather 1.0.0"], []]).toContainEqual(names);
  }
});

test("several at once: each plugin is whole, and nobody is stopped for good", async () => {
  const sources = Array.from({ length: 6 }, (_, at) =>
    writeSample(join(home.path, `source-${at}`), { name: `weather_${at % 3}`, version: `1.0.${at}` }),
  );
  const all = await Promise.all(
    sources.map((source) => plugin(["install", source], { home: home.path, answers: [true] })),
  );
  // Of two of one name the later one is told that it was overtaken, or comes after.
  for (const { end } of all) expect([0, "PLUGIN_CHANGED"]).toContain(end);
  const { names, problems } = await found();
  expect(problems).toEqual([]);
  expect(names.map((name) => name.split(" ")[0])).toEqual(["weather_0", "weather_1", "weather_2"]);
  expect(leftovers()).toEqual([]);
});

test("a full disk leaves the old plugin, and says so", async (context) => {
  mkdirSync(plugins);
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=12m,mode=0700", "tmpfs", plugins]);
  if (status !== 0)
    requireReal(context, { name: "a small disk", reason: "mounting a tmpfs needs Linux, and root", tier: "B" });
  try {
    const install = (source: string) => plugin(["install", source], { home: home.path, answers: [true] });
    expect((await install(writeSample(join(home.path, "old"), { version: "1.0.0" }))).end).toBe(0);
    const upgrade = writeSample(join(home.path, "new"), { version: "2.0.0", wasm: LARGE });
    const other = writeSample(join(home.path, "other"), { name: "other", wasm: LARGE });
    for (const room of [0, 4096, 65_536, 4 * 1024 * 1024]) {
      fill(join(plugins, ".ballast"), room);
      for (const source of [upgrade, other])
        expect(await install(source)).toMatchObject({ end: "STORE_FULL", reloads: 0 });
      rmSync(join(plugins, ".ballast"));
      expect(await found()).toEqual({ names: ["weather 1.0.0"], problems: [] });
      expect(leftovers()).toEqual([]);
    }
    expect((await install(upgrade)).end).toBe(0);
    expect(await found()).toEqual({ names: ["weather 2.0.0"], problems: [] });
  } finally {
    spawnSync("umount", ["--lazy", plugins]);
  }
});

/** Takes all the room but `room` bytes. */
function fill(file: string, room: number): void {
  const spare = `${file}-spare`;
  const reserved = openSync(spare, "w");
  if (room > 0) writeSync(reserved, Buffer.alloc(room));
  closeSync(reserved);
  const ballast = openSync(file, "w");
  for (const size of [65_536, 4096]) untilFull(ballast, Buffer.alloc(size));
  closeSync(ballast);
  rmSync(spare);
}

function untilFull(file: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(file, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}
