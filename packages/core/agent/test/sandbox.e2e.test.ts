// Commands under the backend that confines nothing: what they see, what they leave behind (nothing), and what they can do
// to the daemon's memory (nothing).
import { existsSync } from "node:fs";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ExecRequest, SandboxSession } from "@svc/contract";
import { createNoneBackend } from "../src/sandbox/choose-sandbox.ts";

let workspace: string;
let session: SandboxSession;
const confinement = () => ({ workspace, network: true, readable: [], writable: [], hidden: [], limits: {} });

beforeAll(async () => {
  workspace = await fs.realpath(await fs.mkdtemp(join(tmpdir(), "svc-exec-")));
  await fs.mkdir(join(workspace, "sub"));
  await fs.symlink("/", join(workspace, "out"));
  session = await createNoneBackend({ graceMs: 200 }).open(confinement());
});
afterAll(async () => {
  await session.close();
  await fs.rm(workspace, { recursive: true });
});

const run = (command: ExecRequest["command"], more: Partial<ExecRequest> = {}) => session.exec({ command, ...more });
const alive = (pid: string): boolean => {
  // A process that has ended but was not collected yet still has a number.
  if (process.platform === "linux") return existsSync(`/proc/${pid.trim()}/exe`);
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
};

describe("what a command gets", () => {
  test("a line runs in the shell, words run exactly", async () => {
    expect(await run("echo a; echo b >&2; exit 3")).toEqual({
      exitCode: 3,
      signal: null,
      stdout: "a\n",
      stderr: "b\n",
      truncated: false,
      timedOut: false,
    });
    expect((await run(["printf", "%s|", "a b", "$(id)", "*", ""])).stdout).toBe("a b|$(id)|*||");
    expect((await run("-x")).exitCode).toBe(127);
  });

  test("a clean environment", async () => {
    const names = (await run("env")).stdout.split("\n").map((line) => line.split("=")[0]);
    expect(names.filter((name) => name !== "" && name !== "_").toSorted()).toEqual(
      ["HOME", "LANG", "PATH", "PWD", "SVC_EXEC_ID", "TERM"].toSorted(),
    );
    expect((await run("echo $HOME")).stdout).toBe(`${workspace}\n`);
  });

  test("a folder inside the workspace", async () => {
    expect((await run("pwd")).stdout).toBe(`${workspace}\n`);
    expect((await run("pwd", { cwd: "sub" })).stdout).toBe(`${workspace}/sub\n`);
    for (const cwd of ["..", "/", "out", "out/etc"]) {
      await expect(run("pwd", { cwd })).rejects.toMatchObject({ code: "PATH_OUTSIDE_WORKSPACE" });
    }
    await expect(run("pwd", { cwd: "missing" })).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
  });

  test("its input, and none at all", async () => {
    expect((await run("cat", { stdin: "héllo" })).stdout).toBe("héllo");
    expect((await run("cat")).stdout).toBe("");
    expect((await run("exit 0", { stdin: "x".repeat(1_000_000) })).exitCode).toBe(0);
  });

  test.each([
    [""],
    ["a\0b"],
    [["nowhere-to-be-found"]],
    [["true", "a\0"]],
    [["/etc"]],
    [["true", "x".repeat(3_000_000)]],
  ])("what can't be started is an error with a sentence", async (command) => {
    await expect(run(command as ExecRequest["command"])).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
  });
});

describe("output", () => {
  test("is capped per stream, and that is said", async () => {
    const result = await run("head -c 5000 /dev/zero | tr '\\0' x; echo short >&2", { maxOutputBytes: 1000 });
    expect([result.stdout.length, result.stderr, result.truncated, result.exitCode]).toEqual([
      1000,
      "short\n",
      true,
      0,
    ]);
    expect((await run("printf 12345", { maxOutputBytes: 5 })).truncated).toBe(false);
  });

  test("never ends in half a character, and bad bytes are shown as such", async () => {
    expect((await run("printf 'ééé'", { maxOutputBytes: 5 })).stdout).toBe("éé");
    expect((await run("printf 'a\\377b'")).stdout).toBe("a\uFFFDb");
  });

  test("a flood is stopped long before the timeout, without filling the memory", async () => {
    const result = await run("yes", { maxOutputBytes: 1000, timeoutMs: 60_000 });
    expect([result.stdout.length, result.truncated, result.timedOut]).toEqual([1000, true, false]);
    expect([result.signal, result.exitCode]).not.toEqual([null, 0]);
  });
});

describe("nothing survives", () => {
  test("the timeout ends the tree: children, grandchildren, and those that ignore the first signal", async () => {
    const { fire, running } = await underHand(
      "trap '' TERM; (trap '' TERM; sleep 1000) & echo $!; sleep 1000 & echo $!; echo up > tree; wait",
      "tree",
    );
    fire(TIMEOUT_MS);
    fire(GRACE_MS);
    const result = await running;
    expect([result.timedOut, result.signal]).toEqual([true, "SIGKILL"]);
    const pids = result.stdout.split("\n").filter((text) => /^[0-9]+$/.test(text));
    expect(pids).toHaveLength(2);
    expect(pids.filter(alive)).toEqual([]);
  });

  test("a polite program gets the time to clean up", async () => {
    // The child holds no output: one that is told to stop between fork and exec misses it, and nobody fires the kill here.
    const line = "trap 'echo cleaned; exit 9' TERM; sleep 1000 >/dev/null 2>&1 & echo up > polite; wait";
    const { fire, running } = await underHand(line, "polite");
    fire(TIMEOUT_MS);
    expect(await running).toMatchObject({ timedOut: true, exitCode: 9, stdout: "cleaned\n" });
  });

  test("what is left in the background ends with the command, and is not waited for", async () => {
    const result = await run("sleep 1000 & echo $!; sleep 1000 >/dev/null 2>&1 & echo $!");
    expect(result).toMatchObject({ exitCode: 0, timedOut: false });
    expect(result.stdout.trim().split("\n").filter(alive)).toEqual([]);
  });

  test("also a process that left the group", async (context) => {
    if (process.platform !== "linux") context.skip("needs /proc to find it");
    const result = await run(
      "setsid sh -c 'echo $$ | tee escaped; exec sleep 1000' & until [ -s escaped ]; do sleep 0.01; done",
    );
    const [pid = ""] = result.stdout.split("\n");
    expect([pid, alive(pid)]).toEqual([expect.stringMatching(/^[0-9]+$/), false]);
  });

  test("an abort ends it and rejects with the reason", async () => {
    const caller = new AbortController();
    const running = run("echo $$ > pid; sleep 1000", { signal: caller.signal });
    const pid = await until(() => fs.readFile(join(workspace, "pid"), "utf8").catch(() => ""));
    caller.abort(new Error("cancelled"));
    await expect(running).rejects.toThrow("cancelled");
    expect(alive(pid)).toBe(false);
    await expect(run("touch never", { signal: caller.signal })).rejects.toThrow("cancelled");
    expect(existsSync(join(workspace, "never"))).toBe(false);
  });

  test("closing the session ends what runs and refuses what comes", async () => {
    const other = await createNoneBackend({ graceMs: 200 }).open(confinement());
    const running = other.exec({ command: "echo $$ > pid2; sleep 1000" });
    const pid = await until(() => fs.readFile(join(workspace, "pid2"), "utf8").catch(() => ""));
    await Promise.all([other.close(), expect(running).rejects.toMatchObject({ code: "TOOL_FAILED" })]);
    expect(alive(pid)).toBe(false);
    await expect(other.exec({ command: "true" })).rejects.toMatchObject({ code: "TOOL_FAILED" });
    await other.close();
  });
});

const TIMEOUT_MS = 77_000;
const GRACE_MS = 5000;

/** A command whose timers pass when the test says so, once it has written `ready`. */
async function underHand(command: string, ready: string) {
  const timers = new Map<number, () => void>();
  const clock = {
    after: (delayMs: number, run: () => void) => (timers.set(delayMs, run), () => timers.delete(delayMs)),
  };
  const held = await createNoneBackend({ graceMs: GRACE_MS, clock }).open(confinement());
  const running = held.exec({ command, timeoutMs: TIMEOUT_MS });
  await until(() => fs.readFile(join(workspace, ready), "utf8").catch(() => ""));
  return { running, fire: (delayMs: number) => timers.get(delayMs)?.() };
}

async function until(look: () => Promise<string>): Promise<string> {
  for (;;) {
    const found = await look();
    if (found.endsWith("\n")) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
