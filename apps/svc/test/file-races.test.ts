// The built binary while another user of the machine exchanges folders for links wherever it makes, copies or removes files. Before
// files were touched by descriptor, each of these attacks deleted, disclosed or gave away files of the service.
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { removePath } from "@svc/kit/files";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { missingCompiler, type NameSwapper, nameSwapper, type SwapOptions } from "@svc/testkit/name-swapper";
import { requireReal } from "@svc/testkit/require-real";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { homeWith } from "./daemon.ts";

const STRANGER = 242_711;
const ORDINARY = 242_713;
/** Whom commands of a daemon of root's run as. */
const COMMANDS = 242_617;
const LASTS_MS = process.env["SVC_REQUIRE_REAL"] === "1" ? 20_000 : 2_000;
const SECRETS = Array.from({ length: 20 }, (_, number) => `secret-${10 + number}`);

const binary = fullestBinaryPath();
const missing = missingCompiler();
let swapper: NameSwapper | undefined;

beforeAll(() => {
  if (!missing) swapper = nameSwapper();
});
afterAll(() => swapper?.[Symbol.dispose]());
beforeEach((context) => {
  if (missing) requireReal(context, missing);
});

const SANDBOXED = `
[security.policy]
autonomy = "full"
allowed_commands = ["*"]

[security.sandbox]
backend = "fsrestrict"
`;

/** Runs `work` under attack, again and again. Resolves with the files of `victim` before and afterwards. */
async function underAttack(
  victim: string,
  attacks: readonly Pick<SwapOptions, "uid" | "folder" | "prefix">[],
  work: () => Promise<void>,
): Promise<{ before: unknown; after: unknown }> {
  const before = snapshot(victim);
  const running = attacks.map((attack) => swapper!.attack({ ...attack, victim, files: SECRETS }));
  const end = performance.now() + LASTS_MS;
  do await work();
  while (performance.now() < end);
  await Promise.all(running.map((one) => one.end()));
  return { before, after: snapshot(victim) };
}

const snapshot = (folder: string): unknown[] =>
  ["", ...readdirSync(folder).toSorted()].map((name) => {
    const { uid, gid, mode } = lstatSync(join(folder, name));
    return [name, uid, gid, mode, name === "" ? "" : readFileSync(join(folder, name), "utf8")];
  });

/** Files of the service's user alone, in its home. */
function victimIn(home: string, uid = 0): string {
  const victim = join(home, "victim");
  mkdirSync(victim, { mode: 0o700 });
  for (const name of SECRETS) writeFileSync(join(victim, name), "the daemon's", { mode: 0o600 });
  for (const path of [victim, ...SECRETS.map((name) => join(victim, name))]) chownSync(path, uid, uid);
  return victim;
}

/** Of the proof and of trials; other tests have folders beside them. */
const FOLDERS = [
  { uid: STRANGER, folder: "/var/tmp", prefix: "svc-probe-" },
  { uid: STRANGER, folder: "/tmp", prefix: "svc-trial-" },
  { uid: STRANGER, folder: "/tmp", prefix: "svc-session-" },
];

const meta = { skipReason: "needs gcc and root" };

test.concurrent("svc doctor proves the sandbox and cleans up after itself", { meta }, async () => {
  using home = homeWith(SANDBOXED);
  const victim = victimIn(home.path);
  const { before, after } = await underAttack(victim, FOLDERS, async () => {
    const { stdout } = await runBinary(["doctor", "--json"], { home: home.path, binary });
    expect(stdout).toContain("in the sandbox fsrestrict");
  });
  expect(after).toEqual(before);
});

test.concurrent("svc doctor of an ordinary user does, too", { meta }, async () => {
  using home = homeWith(SANDBOXED);
  const own = join(home.path, "own");
  mkdirSync(own);
  copyFileSync(join(home.path, "config.toml"), join(own, "config.toml"));
  const program = join(home.path, "svc");
  copyFileSync(binary, program);
  chmodSync(home.path, 0o755);
  for (const path of [own, join(own, "config.toml")]) chownSync(path, ORDINARY, ORDINARY);
  const victim = victimIn(own, ORDINARY);
  const { before, after } = await underAttack(victim, FOLDERS, async () => {
    expect(await asOrdinary(program, ["doctor", "--json"], own)).toContain("in the sandbox fsrestrict");
  });
  expect(after).toEqual(before);
});

test.concurrent("svc backup takes nothing from outside of the workspace", { meta }, async () => {
  using home = homeWith(SANDBOXED);
  const victim = victimIn(home.path);
  const workspace = workspaceIn(home.path);
  execFileSync("mkfifo", [join(workspace, "pipe")]);
  let count = 0;
  const { before, after } = await underAttack(
    victim,
    [{ uid: COMMANDS, folder: home.path, prefix: "workspace" }],
    async () => {
      const file = join(home.path, `backup-${(count += 1)}.tar.gz`);
      const { code, stderr } = await runBinary(["backup", "--workspace", file], { home: home.path, binary });
      expect([code, stderr]).toEqual([0, ""]);
      expect(
        execFileSync("tar", ["--extract", "--gzip", "--to-stdout", "--file", file], { encoding: "latin1" }),
      ).not.toContain("the daemon's");
    },
  );
  expect(after).toEqual(before);
});

test.concurrent("file_write gives away nothing but the folders that it makes", { meta }, async () => {
  using home = homeWith(SANDBOXED);
  const victim = victimIn(home.path);
  const workspace = workspaceIn(home.path);
  const input = JSON.stringify({ path: "new/new/new/file", content: "x" });
  const { before, after } = await underAttack(
    victim,
    [{ uid: COMMANDS, folder: home.path, prefix: "workspace" }],
    async () => {
      await removePath(join(workspace, "new"));
      await runBinary(["tools", "run", "file_write", "--json", "--input", input], { home: home.path, binary });
    },
  );
  expect(after).toEqual(before);
});

test.concurrent("the temporary folder of a command is removed, and nothing else", { meta }, async () => {
  using home = homeWith(SANDBOXED);
  const victim = victimIn(home.path);
  workspaceIn(home.path);
  const input = JSON.stringify({ command: "mkdir $TMPDIR/new; sleep 0.05; echo ran" });
  const { before, after } = await underAttack(
    victim,
    [{ uid: COMMANDS, folder: "/tmp", prefix: "svc-session-" }],
    async () => {
      const { stdout } = await runBinary(["tools", "run", "shell", "--json", "--input", input], {
        home: home.path,
        binary,
      });
      expect(stdout).toContain("ran");
    },
  );
  expect(after).toEqual(before);
});

/** As it is once a daemon of root's has handed it over. */
function workspaceIn(home: string): string {
  chmodSync(home, 0o755); // a process of that user outside of a sandbox gets there, too
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  chownSync(workspace, COMMANDS, COMMANDS);
  return workspace;
}

function asOrdinary(program: string, args: readonly string[], home: string): Promise<string> {
  const env = { PATH: process.env["PATH"] ?? "", SVC_HOME: home, HOME: home };
  const child = spawn(program, args, {
    uid: ORDINARY,
    gid: ORDINARY,
    cwd: home,
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve(said));
  });
}
