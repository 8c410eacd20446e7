// A job of CI once waited for an hour and a half for something that had hung: every child has an end.
import { expect, test } from "vitest";
import { run, shimLine } from "../run.mjs";

const node = (script: string, options: Parameters<typeof run>[2]) => run(process.execPath, ["-e", script], options);

test("what runs longer than it may is ended by SIGTERM, and by SIGKILL when it stays", async () => {
  const forEver = "setInterval(() => {}, 1000); console.log('ready');";
  await expect(node(forEver, { limitMs: 500 })).resolves.toMatchObject({ code: 143 });
  const stubborn = `process.on("SIGTERM", () => console.log("no")); ${forEver}`;
  const { code, output } = await node(stubborn, { limitMs: 2_000, graceMs: 100 });
  expect(code).toBe(137);
  expect(output).toMatch(/was ended: it ran longer than 2 s/u);
});

test("a process that is left behind with the output open holds nothing up", async () => {
  const leaves = `
    const { spawn } = require("node:child_process");
    const left = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit", detached: true });
    console.log(left.pid);
    process.exit(0);`;
  const { code, stdout, output } = await node(leaves, { graceMs: 100 });
  process.kill(Number.parseInt(stdout, 10), "SIGKILL");
  expect(code).toBe(0);
  expect(output).toMatch(/left a process behind/u);
});

test("a .cmd file in a folder with a blank is started, with each argument whole", () => {
  expect(
    shimLine(String.raw`C:\My Code\node_modules\.bin\pnpm.cmd`, ["install", "--config.a=1", "a&b", "pnpm@12.21.0"]),
  ).toBe(String.raw`"C:\My Code\node_modules\.bin\pnpm.cmd" install --config.a=1 "a&b" pnpm@12.21.0`);
});
