// Another user exchanges folders for links without pause while we remove, copy, make and give away what lies there. Against calls by
// path each of these attacks won within seconds: files outside were deleted, copied or given away.
import { connect } from "node:net";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Confinement, ExecRequest, SandboxSession } from "@svc/contract";
import { copyTree, givePath, makeFolderIn, makeScratch, openPath, removePath, removeTree } from "@svc/kit/files";
import { proveConfinement } from "@svc/kit/process";
import { missingCompiler, type NameSwapper, nameSwapper } from "../src/name-swapper.ts";
import { requireReal } from "../src/require-real.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

/** Another local account, the owner of workspaces, and the user of an ordinary daemon. */
const STRANGER = 242_701;
const OWNER = { uid: 242_702, gid: 242_702 };
const DAEMON = 242_703;
const LASTS_MS = process.env["SVC_REQUIRE_REAL"] === "1" ? 20_000 : 2_000;

const missing = missingCompiler();
let swapper: NameSwapper | undefined;

beforeAll(() => {
  if (!missing) swapper = nameSwapper();
});
afterAll(() => swapper?.[Symbol.dispose]());
beforeEach((context) => {
  if (missing) requireReal(context, missing);
});

const meta = { skipReason: "needs gcc and root" };

describe.each([
  ["root", 0],
  ["an ordinary user", DAEMON],
] as const)("a daemon of %s", { meta }, (_who, uid) => {
  beforeAll(() => become(uid));
  afterAll(() => become(0));
  // The user is the process's: where it is another than root, a step as root would change the calls of a test beside it.
  const options = { concurrent: uid === 0 };

  test("removes a tree that another user changes, and nothing outside of it", options, async () => {
    using scene = new Scene(uid);
    const shared = scene.folder("shared", uid, 0o777);
    const { rounds, exchanges, files } = await scene.underAttack([{ uid: STRANGER, folder: shared }], async (round) => {
      const tree = join(shared, `tree-${round}`);
      mkdirSync(join(tree, "a"), { recursive: true });
      for (const folder of [tree, join(tree, "a")]) chmodSync(folder, 0o777);
      await scene.attackerIn(tree);
      await removePath(tree);
    });
    expect(exchanges).toBeGreaterThan(rounds);
    expect(files).toEqual(scene.files);
  });

  test("copies a tree that another user changes, and no file from outside of it", options, async () => {
    using scene = new Scene(uid);
    const workspace = scene.folder("workspace", STRANGER, 0o777);
    const copies = scene.folder("copies", uid);
    const copied = new Set<string>();
    const attack = { uid: STRANGER, folder: scene.room, prefix: "workspace" };
    const { exchanges, files } = await scene.underAttack([attack], async () => {
      const to = join(copies, "copy");
      await using from = await openPath(workspace);
      await copyTree(from, to);
      for (const entry of readdirSync(to, { recursive: true, withFileTypes: true })) {
        if (entry.isFile()) copied.add(readFileSync(join(entry.parentPath, entry.name), "utf8"));
      }
      await removePath(to);
    });
    expect(exchanges).toBeGreaterThan(0);
    expect([...copied].join()).toBe("");
    expect(files).toEqual(scene.files);
  });

  test("proves a sandbox while another user reaches for its folders and connects to its port", options, async () => {
    using scene = new Scene(uid);
    const workspace = scene.folder("workspace", uid);
    const { files } = await scene.underAttack(
      [{ uid: STRANGER, folder: "/var/tmp", prefix: "svc-probe-" }],
      async () => {
        expect(await proveConfinement(proofFor(workspace))).toBeUndefined();
      },
    );
    expect(files).toEqual(scene.files);
  });

  if (uid !== 0) return; // only root acts for several users

  test.concurrent("makes folders in another user's workspace, and gives away none but those", async () => {
    using scene = new Scene(uid);
    const workspace = scene.folder("workspace", OWNER.uid);
    const attack = { uid: OWNER.uid, folder: scene.room, prefix: "workspace" };
    const { exchanges, files } = await scene.underAttack([attack], async (round) => {
      await using folder = await openPath(workspace);
      await makeFolderIn(folder, "new", OWNER).catch(() => false);
      if (round % 2 === 0) await removeTree(folder, "new");
    });
    expect(exchanges).toBeGreaterThan(0);
    expect(files).toEqual(scene.files);
  });

  test.concurrent("hands a workspace over while its future owner is at work in it", async () => {
    using scene = new Scene(uid);
    const workspaces = scene.folder("workspaces", 0, 0o755);
    const { files } = await scene.underAttack([{ uid: OWNER.uid, folder: workspaces }], async (round) => {
      const workspace = join(workspaces, `w${round}`);
      mkdirSync(join(workspace, "deep/er"), { recursive: true });
      mkdirSync(join(workspace, "open/new"), { recursive: true });
      for (const name of SECRETS) writeFileSync(join(workspace, "open/new", name), "");
      chmodSync(join(workspace, "open"), 0o777);
      await scene.attackerIn(join(workspace, "open"));
      await givePath(workspace, OWNER);
      expect(lstatSync(workspace).uid).toBe(OWNER.uid);
      await removePath(workspace);
    });
    expect(files).toEqual(scene.files);
  });

  test.concurrent("removes the temporary folder of a command whose user swaps what is in it", async () => {
    using scene = new Scene(uid);
    const parent = scene.folder("temporary", 0, 0o1777);
    const attacks = [OWNER.uid, STRANGER].map((who) => ({ uid: who, folder: parent, prefix: "svc-session-" }));
    const { files } = await scene.underAttack(attacks, async () => {
      await using scratch = await makeScratch({ prefix: "svc-session-", parent, owner: OWNER });
      await scene.attackerIn(scratch.path);
    });
    expect(readdirSync(parent)).toEqual([]);
    expect(files).toEqual(scene.files);
  });
});

function become(uid: number): void {
  if (missing) return;
  process.seteuid!(0);
  process.setegid!(uid);
  process.seteuid!(uid);
}

/** For what only root can do between two steps of the tests. */
function asRoot<T>(work: () => T): T {
  const uid = process.geteuid!();
  become(0);
  try {
    return work();
  } finally {
    become(uid);
  }
}

/** A folder with files of the daemon's that no other user may read, change or come to own. */
class Scene implements Disposable {
  readonly room = mkdtempSync(join(tmpdir(), "svc-races-"));
  readonly #victim: string;
  #end = 0;
  readonly files: unknown;

  constructor(uid: number) {
    chmodSync(this.room, 0o755);
    this.#victim = this.folder("victim", uid);
    for (const name of SECRETS) writeFileSync(join(this.#victim, name), "the daemon's", { mode: 0o600 });
    this.files = filesOf(this.#victim);
  }

  folder(name: string, uid: number, mode = 0o700): string {
    const path = join(this.room, name);
    asRoot(() => {
      mkdirSync(path);
      chownSync(path, uid, uid);
      chmodSync(path, mode);
    });
    return path;
  }

  /** Runs `work` again and again. Resolves with the state of the daemon's files afterwards, and how busy the attackers were. */
  async underAttack(
    attacks: readonly { uid: number; folder: string; prefix?: string }[],
    work: (round: number) => Promise<void>,
  ): Promise<{ rounds: number; exchanges: number; files: unknown }> {
    const victim = this.#victim;
    const running = asRoot(() =>
      attacks.map((attack) => swapper!.attack({ prefix: "", victim, files: SECRETS, ...attack })),
    );
    this.#end = performance.now() + LASTS_MS;
    let rounds = 0;
    for (; rounds === 0 || performance.now() < this.#end; rounds += 1) await work(rounds);
    const exchanges = await Promise.all(running.map((one) => one.end()));
    return { rounds, exchanges: exchanges.reduce((sum, count) => sum + count), files: filesOf(victim) };
  }

  /** Until an attacker has put a link into `folder`, or the attack is over. */
  async attackerIn(folder: string): Promise<void> {
    while (!lstatSync(join(folder, "l"), { throwIfNoEntry: false }) && performance.now() < this.#end)
      await new Promise((resolve) => setImmediate(resolve));
  }

  [Symbol.dispose](): void {
    asRoot(() => rmSync(this.room, { recursive: true, force: true }));
  }
}

/** Name, owner, mode and content of each file, and of the folder. */
const filesOf = (folder: string): unknown[] =>
  ["", ...readdirSync(folder).toSorted()].map((name) => {
    const { uid, mode } = lstatSync(join(folder, name));
    return [name, uid, mode & 0o777, name === "" ? "" : readFileSync(join(folder, name), "utf8")];
  });

const SECRETS = Array.from({ length: 40 }, (_, number) => `secret-${10 + number}`);

/** A backend that confines as far as the proof looks: what it runs says what a confined command would. */
function proofFor(workspace: string) {
  const confinement: Confinement = { workspace, network: false, readable: [], writable: [], hidden: [], limits: {} };
  const open = async (): Promise<SandboxSession> => ({
    async exec({ command }: ExecRequest) {
      const [, note = ""] = /echo here >'?([^'\n]*)'?/.exec(String(command)) ?? [];
      writeFileSync(note, "here\n");
      await knock(Number(/127\.0\.0\.1\/([0-9]+)/.exec(String(command))?.[1]));
      const stdout = "got \nnetwork offline\nended\n";
      return { exitCode: 0, signal: null, stdout, stderr: "", truncated: false, timedOut: false };
    },
    close: async () => undefined,
  });
  return { open, confinement, signal: new AbortController().signal, offline: "echo offline" };
}

/** Any program of the machine may connect to a port that it finds in /proc/net/tcp. */
const knock = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket
      .once("close", () => resolve())
      .once("error", reject)
      .resume()
      .end("x".repeat(64));
  });
