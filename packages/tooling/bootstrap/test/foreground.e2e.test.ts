// `npm start` with Ctrl-C once killed the daemon instead of draining it: the terminal's signal and npm's own arrived as
// two, and the second one means "now". The child here counts what it is given.
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../checkout.mjs";

const foregroundModule = join(root, "packages/tooling/bootstrap/foreground.mjs");
const wrapper = `import { foreground } from ${JSON.stringify(foregroundModule)};
process.exitCode = await foreground(process.execPath, ["-e", process.env.CHILD], { sameSignalMs: Number(process.env.SAME_MS) });`;

function start(
  child: string,
  sameSignalMs = 0,
): {
  process: ChildProcess;
  says: (text: string) => Promise<void>;
  ended: Promise<number | null>;
} {
  const wrapped = spawn(process.execPath, ["--input-type=module", "-e", wrapper], {
    env: { ...process.env, CHILD: child, SAME_MS: String(sameSignalMs) },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let output = "";
  wrapped.stdout.setEncoding("utf8").on("data", (text: string) => void (output += text));
  const ended = new Promise<number | null>((resolve) => void wrapped.once("close", resolve));
  const says = async (text: string): Promise<void> => {
    while (!output.includes(text))
      await Promise.race([new Promise((resolve) => void wrapped.stdout.once("data", resolve)), ended]);
  };
  return { process: wrapped, says, ended };
}

test("the child's exit code is ours, and it has our stdin", async () => {
  const running = start('process.stdin.on("data", (text) => process.exit(Number(text)))');
  running.process.stdin?.write("42\n");
  expect(await running.ended).toBe(42);
});

const counting = `
  let count = 0;
  process.on("SIGINT", () => console.log("signal " + ++count));
  process.on("SIGTERM", () => process.exit(count));
  setInterval(() => {}, 1000);
  console.log("ready");`;

test("one Ctrl-C that arrives twice is given to the child once, and it may take its time", async () => {
  const running = start(counting, 600_000);
  await running.says("ready");
  running.process.kill("SIGINT");
  await running.says("signal 1");
  running.process.kill("SIGINT");
  running.process.kill("SIGTERM");
  expect(await running.ended).toBe(1);
});

test("a second Ctrl-C later on is passed on as well", async () => {
  const running = start(counting);
  await running.says("ready");
  running.process.kill("SIGINT");
  await running.says("signal 1");
  running.process.kill("SIGINT");
  await running.says("signal 2");
  running.process.kill("SIGTERM");
  expect(await running.ended).toBe(2);
});

test("a closed terminal ends the daemon", async () => {
  const running = start(`
    process.on("SIGHUP", () => console.log("reloading"));
    process.on("SIGTERM", () => process.exit(5));
    setInterval(() => {}, 1000);
    console.log("ready");`);
  await running.says("ready");
  running.process.kill("SIGHUP");
  expect(await running.ended).toBe(5);
});

test("the daemon ends when npm is killed, which tells only its own shell", async () => {
  // A shell between us and the wrapper, as npm has one; killed without a word to its child.
  const shell = spawn("/bin/sh", ["-c", '"$NODE" --input-type=module -e "$WRAPPER"; echo'], {
    env: {
      ...process.env,
      NODE: process.execPath,
      WRAPPER: wrapper,
      CHILD:
        'process.on("SIGTERM", () => { console.log("drained"); process.exit(0); }); console.log("ready"); setInterval(() => {}, 1000);',
      SAME_MS: "600000",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  const ended = new Promise<void>((resolve) => void shell.stdout.once("close", resolve));
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (text.includes("ready")) shell.kill("SIGKILL");
  });
  await ended;
  expect(output).toBe("ready\ndrained\n");
});

test("a child that a signal ended gives 128 + n", async () => {
  const running = start('process.kill(process.pid, "SIGKILL")');
  expect(await running.ended).toBe(137);
});
