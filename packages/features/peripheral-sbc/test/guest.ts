/**
 * Runs inside the guest, as its script says: the tools on simulated lines of the kernel, compared with libgpiod's own programs. Prints one
 * line of JSON for each step.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import * as v from "valibot";
import type { NativePins } from "@svc/kit/hardware";
import { sbcOf } from "../src/sbc.ts";

const root = mkdtempSync("/run/svc-root-");
mkdirSync(join(root, "proc/device-tree"), { recursive: true });
writeFileSync(join(root, "proc/device-tree/model"), "Raspberry Pi 4 Model B Rev 1.4\0");
symlinkSync("/dev", join(root, "dev"));

const line = (pin: number, file: string): string => `/sys/devices/platform/gpio-sim.0/gpiochip0/sim_gpio${pin}/${file}`;
const say = (step: string, value: unknown): void => console.log(`@@${JSON.stringify([step, value])}`);
const gpioget = (pin: number): string =>
  execFileSync("gpioget", ["--numeric", "-c", "gpiochip0", String(pin)])
    .toString()
    .trim();

const { survey, create } = sbcOf(root);
const homeFolder = mkdtempSync("/run/svc-home-");
const signal = new AbortController().signal;
const found = await survey({} as never, signal);
const context = fakeFeatureContext(undefined, { survey: found, homeFolder });
const made = create(context);
await made.register?.(signal);
say("profile", readFileSync(join(homeFolder, "hardware/devices/rpi0.md"), "utf8").split("\n")[0]);
say("prompt", made.promptContext?.().split(":", 1)[0]);

async function call(name: string, input: object): Promise<unknown> {
  const tool = made.tools!.find((one) => one.name === name)!;
  return tool
    .run(v.parse(tool.input, input), fakeToolContext())
    .catch((error: { code: string; message: string }) => [error.code, error.message]);
}

say("write", await call("gpio_rpi_write", { pin: 17, value: 1 }));
say("the kernel's value of 17", readFileSync(line(17, "value"), "utf8").trim());
say("svc holds 17", /consumer="?svc"?/.test(execFileSync("gpioinfo", ["-c", "gpiochip0", "17"]).toString()));
say("read back", await call("gpio_rpi_read", { pin: 17 }));
say("write 0", await call("gpio_rpi_write", { pin: 17, value: 0 }));
say("the kernel's value of 17", readFileSync(line(17, "value"), "utf8").trim());
for (const pull of ["pull-up", "pull-down"]) {
  writeFileSync(line(5, "pull"), pull);
  say(`read with ${pull}`, [await call("gpio_rpi_read", { pin: 5 }), gpioget(5)]);
}
say("pull as an argument", [
  await call("gpio_rpi_read", { pin: 6, pull: "up" }),
  await call("gpio_rpi_read", { pin: 6, pull: "down" }),
]);

const holder = spawn("gpioset", ["-c", "gpiochip0", "22=1"], { stdio: "ignore" });
while (!execFileSync("gpioinfo", ["-c", "gpiochip0", "22"]).toString().includes("consumer="))
  await new Promise((go) => setTimeout(go, 20));
say("a line of another program", await call("gpio_rpi_write", { pin: 22, value: 0 }));
holder.kill();
say("a line of the SD card", await call("gpio_rpi_write", { pin: 47, value: 0 }));
say("the LED of the board", await call("gpio_rpi_write", { pin: 42, value: 1 }));
say("a line of the kernel", await call("gpio_rpi_read", { pin: 4 }));

const blinking = call("gpio_rpi_blink", { pin: 27, times: 3, on_ms: 50, off_ms: 50 });
const seen: string[] = [];
let last = "";
const ended = { is: false };
void blinking.then(() => (ended.is = true));
while (!ended.is) {
  const value = readFileSync(line(27, "value"), "utf8").trim();
  if (value !== last) seen.push(value);
  last = value;
  // Steps shorter than a phase: none is missed.
  await context.clock.advance(25);
}
say("blink", [await blinking, seen.join("")]);
// What is watched is what gpiomon sees: changes that last, in order, also those that came while nobody looked.
const native = made.provides![0]!.value as NativePins;
const watching = new AbortController();
const levels: number[] = [];
const watched = (async () => {
  for await (const level of native.watchPin({ pin: 12, debounceMs: 20, pull: undefined }, watching.signal))
    levels.push(level);
})();
const monitor = spawn("gpiomon", ["-c", "gpiochip0", "--num-events=4", "--format=%e", "--debounce-period=20ms", "13"]);
const monitorEnded = new Promise((go) => monitor.once("close", go));
let monitored = "";
monitor.stdout.setEncoding("utf8").on("data", (text: string) => (monitored += text));
const wait = (ms: number): Promise<void> => new Promise((go) => setTimeout(go, ms));
while (
  !execFileSync("gpioinfo", ["-c", "gpiochip0", "12", "13"])
    .toString()
    .match(/consumer=[^]*consumer=/)
)
  await wait(20);
for (const pull of ["pull-up", "pull-down", "pull-up", "pull-down"]) {
  for (const pin of [12, 13]) writeFileSync(line(pin, "pull"), pull);
  // Longer than it takes to be no chatter.
  await wait(200);
}
await monitorEnded;
while (levels.length < 5) await context.clock.advance(50);
say("watched", [levels, monitored.trim().split(/\s+/)]);
// A level that is gone before it counts.
for (let count = 0; count < 20; count += 1)
  for (const pull of ["pull-up", "pull-down"]) writeFileSync(line(12, "pull"), pull);
await wait(200);
await context.clock.advance(50);
say("chatter", levels.length);
say("read a watched pin", [
  await call("gpio_rpi_read", { pin: 12 }),
  await call("gpio_rpi_write", { pin: 12, value: 1 }),
]);
watching.abort();
await context.clock.advance(50);
await watched;
say("not watched any more", await call("gpio_rpi_write", { pin: 12, value: 0 }));
await made.shutdown?.();
say(
  "17 is free after the shutdown",
  !execFileSync("gpioinfo", ["-c", "gpiochip0", "17"]).toString().includes("consumer="),
);
