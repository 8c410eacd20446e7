/** Runs inside the guest, as its script says: the tools on the kernel's stub, compared with the programs of i2c-tools. One line of JSON a step. */
import { execFileSync } from "node:child_process";
import { startFeature } from "./feature.ts";

const [bus = ""] = process.argv.slice(2);
const say = (step: string, value: unknown): void => console.log(`@@${JSON.stringify([step, value])}`);
const run = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, ["-y", bus, ...args]).toString();

const feature = await startFeature({ root: "/", config: { i2c_buses: [`/dev/i2c-${bus}`] } });
const call = (name: string, input: object): Promise<unknown> =>
  feature.call(name, input).catch(({ code, message }: { code: string; message: string }) => [code, message]);

say("tools", feature.names);
const detected = [...run("i2cdetect").matchAll(/^\d0: (.*)$/gm)].flatMap(
  ([, row]) => row!.match(/\b[\da-f]{2}\b/g) ?? [],
);
say("scan", [await call("i2c_scan", {}), detected]);
say("write a register", await call("i2c_write", { address: 0x48, register: 0x10, bytes: [0xab] }));
say("i2cget of it", run("i2cget", "0x48", "0x10").trim());
execFileSync("i2cset", ["-y", bus, "0x20", "0x05", "0x77"]);
say("what i2cset wrote", await call("i2c_read", { address: 0x20, register: 5 }));
say(
  "write a block",
  await call("i2c_write", { address: 0x48, register: 0x20, bytes: Array.from({ length: 32 }, (_one, at) => at + 1) }),
);
say("i2cget of its end", run("i2cget", "0x48", "0x3f").trim());
const block = (await call("i2c_read", { address: 0x48, register: 0x20, length: 40 })) as { bytes: number[] };
say("read of a block and more", block.bytes);
say(
  "too long a block",
  await call("i2c_write", { address: 0x48, register: 0, bytes: Array.from({ length: 33 }, () => 0) }),
);
say("nobody there", await call("i2c_read", { address: 0x33, register: 0 }));
await feature.shutdown();
