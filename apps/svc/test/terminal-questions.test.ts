// svc chat at a terminal while the daemon runs: others may answer the same question, its time runs out, the daemon dies. In each
// case the terminal must be free again, and must not take what is typed next for an answer nobody waits for.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "@svc/contract";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import { atTerminal, needScript } from "./at-terminal.ts";
import { homeWith } from "./daemon.ts";

const COMMAND = '/tool shell {"command":"echo acted > proof"}';

const elsewhere = (home: string, answer: "approve" | "reject", ...more: string[]) =>
  runBinary(["approvals", answer, "1", ...more], { home });

interface Fixture extends AsyncDisposable {
  readonly home: string;
  readonly daemon: RunningBinary;
  hasActed(): boolean;
}

async function fixture(toml = ""): Promise<Fixture> {
  const home = homeWith(toml);
  const daemon = await startBinary({ home: home.path });
  return {
    home: home.path,
    daemon,
    hasActed: () => existsSync(join(home.path, "workspace/proof")),
    async [Symbol.asyncDispose]() {
      await daemon.stop();
      home[Symbol.dispose]();
    },
  };
}

test("a yes elsewhere frees the terminal, which tells whose it was", async (context) => {
  needScript(context);
  await using running = await fixture();
  const { screen } = await atTerminal(running.home, "chat", [
    ["> ", `${COMMAND}\n`],
    ["[y/N] ", () => elsewhere(running.home, "approve")],
    ["approved by an operator at the command line", ""],
    ["exit_code", "still there?\n"],
    ["built-in model", "\x04"],
  ]);
  expect(screen).toContain("still there?");
  expect(running.hasActed()).toBe(true);
});

test("a no elsewhere beats a yes that is half typed, and that yes is nothing any more", async (context) => {
  needScript(context);
  await using running = await fixture();
  const { screen } = await atTerminal(running.home, "chat", [
    ["> ", `${COMMAND}\n`],
    ["[y/N] ", "y"],
    ["y", () => elsewhere(running.home, "reject", "--feedback", "tests fail")],
    ["tests fail", ""],
    ["A person rejected", "still there?\n"],
    ["still there?", ""],
    ["built-in model", "\x04"],
  ]);
  expect(screen).toContain("rejected by an operator at the command line");
  expect(screen).not.toContain("ystill");
  expect(running.hasActed()).toBe(false);
});

test("nobody answers in time: that is what the terminal says, and it goes on", async (context) => {
  needScript(context);
  await using running = await fixture("[approvals]\ntool_timeout_secs = 1\n");
  const { screen } = await atTerminal(running.home, "chat", [
    ["> ", `${COMMAND}\n`],
    ["No answer in time", ""],
    ["No person approved", "still there?\n"],
    ["built-in model", "\x04"],
  ]);
  expect(screen).not.toContain("Somebody else");
  expect(running.hasActed()).toBe(false);
});

test("the daemon dies at the question: what is typed next is a message again", async (context) => {
  needScript(context);
  await using running = await fixture();
  const { screen, code } = await atTerminal(running.home, "chat", [
    ["> ", `${COMMAND}\n`],
    ["[y/N] ", () => running.daemon.kill9()],
    ["went away", "still there?\n"],
    ["still there?", ""],
    // Gone, or going.
    ["tart it", "\x04"],
  ]);
  expect(screen.split("[y/N]")).toHaveLength(2);
  expect(code).toBe(EXIT.ok);
});

test("the daemon dies at the question of a single message: the command ends by itself", async (context) => {
  needScript(context);
  await using running = await fixture();
  const { screen, code } = await atTerminal(running.home, `chat -m '${COMMAND}'`, [
    ["Allow it this once?", () => running.daemon.kill9()],
  ]);
  expect(screen).toContain("DAEMON_LOST");
  expect(code).not.toBe(EXIT.ok);
});

test("whoever stops the turn at the question has answered nothing", async (context) => {
  needScript(context);
  await using running = await fixture();
  await atTerminal(running.home, "chat", [
    ["> ", `${COMMAND}\n`],
    ["[y/N] ", "\x1b"],
    ["> ", "\x04"],
  ]);
  const { stdout } = await runBinary(["approvals", "list", "--status", "all", "--json"], { home: running.home });
  const { approvals } = JSON.parse(stdout) as { approvals: { status: string }[] };
  expect(approvals.map(({ status }) => status)).toEqual(["cancelled"]);
  expect(running.hasActed()).toBe(false);
});
