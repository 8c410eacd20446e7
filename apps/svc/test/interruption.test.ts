// Who leaves in the middle: a person at a question, a command that is interrupted, a reader of the daemon's output. Each
// of these left a process behind, ended another, or showed a stack.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { binaryPath } from "@svc/testkit/binary/spawn-binary";
import { expect, test } from "vitest";
import { homeWith, startPaired, UNGUARDED } from "./daemon.ts";

test.each(["SIGINT", "SIGTERM"] as const)("%s ends a lone tool call and the command it started", async (signal) => {
  using home = homeWith(UNGUARDED);
  const input = JSON.stringify({ command: "echo $$ > pid.new; mv pid.new pid; sleep 300" });
  const child = svc(["tools", "run", "shell", "--input", input], home.path);
  const pidFile = join(home.path, "workspace/pid");
  await until(() => existsSync(pidFile));
  child.kill(signal);
  expect(await exitOf(child)).toBe(75);
  const pid = Number(readFileSync(pidFile, "utf8"));
  expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
});

test("a turn of svc chat is finished by a daemon that is told to stop", async () => {
  using home = homeWith(UNGUARDED);
  const { daemon } = await startPaired({ home: home.path });
  const shell = JSON.stringify({ command: "touch begun; while [ ! -e go ]; do sleep 0.05; done; echo finished" });
  const chat = runBinary(["chat", "-m", `/tool shell ${shell}`], { home: home.path });
  await until(() => existsSync(join(home.path, "workspace/begun")));
  const stopped = daemon.stop("SIGTERM");
  await daemon.waitFor(/stopping/);
  const go = ["tools", "run", "file_write", "--input", '{"path":"go","content":""}'];
  expect((await runBinary(go, { home: home.path })).code).toBe(0);
  expect(await chat).toMatchObject({ code: 0, stdout: expect.stringContaining("finished") });
  expect(await stopped).toEqual({ code: 0, signal: null });
});

test("a daemon that is killed leaves its svc chat with a sentence, not a stack", async () => {
  using home = homeWith(UNGUARDED);
  const { daemon } = await startPaired({ home: home.path });
  const command = "touch begun; while [ -e begun ]; do sleep 0.05; done";
  const chat = runBinary(["chat", "-m", `/tool shell {"command":"${command}"}`], { home: home.path });
  await until(() => existsSync(join(home.path, "workspace/begun")));
  await daemon.kill9();
  const { code, stderr } = await chat;
  expect(code).toBe(69);
  expect(stderr).toContain("The daemon went away");
  expect(stderr).not.toMatch(/\n\s+at /);
});

test("svc status does not call stopped what only did not answer", async () => {
  using home = homeWith("");
  mkdirSync(join(home.path, "run"), { mode: 0o700 });
  const mute = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => mute.listen(join(home.path, "run/control.sock"), resolve));
  const { code, stdout, stderr } = await runBinary(["status"], { home: home.path });
  mute.close();
  expect([code, stdout]).toEqual([69, ""]);
  expect(stderr).toContain("The daemon went away");
});

test("a daemon outlives whoever read its output", async () => {
  using home = homeWith("[gateway]\nport = 0\n");
  const child = svc(["daemon"], home.path);
  try {
    let out = "";
    child.stdout!.setEncoding("utf8").on("data", (text: string) => (out += text));
    await until(() => /pairing code/.test(out));
    child.stdout!.destroy();
    child.stderr!.destroy();
    const { port } = new URL(/listening on (\S+)/.exec(out)![1]!);
    // Five wrong codes are a line in the log, which nobody can read any more.
    for (let tries = 0; tries < 6; tries += 1) {
      await fetch(`http://127.0.0.1:${port}/pair`, { method: "POST", headers: { "x-pairing-code": "no" } });
    }
    expect((await runBinary(["status", "--json"], { home: home.path })).code).toBe(0);
  } finally {
    child.kill("SIGTERM");
  }
  expect(await exitOf(child)).toBe(0);
});

test("an output that can't be written is said, with its exit code", async (context) => {
  if (!existsSync("/dev/full")) context.skip("no /dev/full on this system");
  using home = homeWith("");
  const child = spawn("/bin/sh", ["-c", 'exec "$0" config schema > /dev/full', binaryPath()], {
    env: { SVC_HOME: home.path },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let told = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (told += text));
  expect(await exitOf(child)).toBe(74);
  expect(told).toBe("svc: the output could not be written (ENOSPC)\n");
});

const svc = (words: readonly string[], home: string): ChildProcess =>
  spawn(binaryPath(), words, {
    env: { PATH: process.env["PATH"], SVC_HOME: home },
    stdio: ["ignore", "pipe", "pipe"],
  });

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once("close", (code) => resolve(code)));

/** Looks again until it holds; the test's own time limit is the only clock. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}
