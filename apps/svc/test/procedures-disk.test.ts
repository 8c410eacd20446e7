// A disk that is full must not start half a procedure, take half an answer, write half a file, or lose one of them; nor may files that
// are read-only.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import type { RunningBinary } from "@svc/testkit/binary/start-binary";
import { mountSmallDisk, NO_SMALL_DISK, type SmallDisk } from "@svc/testkit/real/small-disk";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { startPaired, UNGUARDED } from "./daemon.ts";
import { manual, type ProceduresFixture, startProcedures, steps } from "./procedures-fixture.ts";

const SIZE_MB = 4;

/** The state of the home lies on a disk of some megabytes. The service must not run. */
function smallStateDisk(home: string): SmallDisk | undefined {
  const [state, aside] = [join(home, "state"), join(home, "state-aside")];
  cpSync(state, aside, { recursive: true });
  const disk = mountSmallDisk(SIZE_MB, state);
  if (disk) cpSync(aside, state, { recursive: true });
  return disk;
}

const NOTES = `[sop]
execution_mode = "deterministic"
max_concurrent = 1000

[[triggers]]
type = "webhook"
path = "/of/notes"

[[steps]]
title = "Note it"
tool = "file_write"
args = { path = "notes.txt", content = "$.line", mode = "append" }
trusted_input = true
`;

const CONFIG = `${UNGUARDED}
[sop]
max_concurrent_total = 1000
[gateway]
webhook_rate_limit_per_minute = 0
`;

interface Started {
  readonly runs: readonly { readonly run_id: string }[];
}

const runsOf = async (fixture: ProceduresFixture): Promise<readonly string[]> =>
  (await fixture.api<{ runs: { id: string }[] }>("/api/sop-runs?sop=notes&limit=200")).body.runs.map(({ id }) => id);

const linesOf = (fixture: ProceduresFixture): string[] => fixture.file("notes.txt").trim().split("\n").toSorted();

test("on a full disk a trigger is told 503 and starts nothing, an answer is not taken; with room again both are, once", async (context) => {
  if (process.getuid?.() !== 0) requireReal(context, NO_SMALL_DISK);
  await using fixture = await startProcedures({ config: CONFIG });
  await fixture.write({
    notes: { toml: NOTES, md: "" },
    gated: { toml: manual('execution_mode = "supervised"\nmax_concurrent = 5'), md: steps("Say so.") },
  });
  const gate = await fixture.run("gated");
  await fixture.becomes(gate, "waiting_approval");
  await fixture.delivered();
  await fixture.chat.daemon.stop();
  using disk = smallStateDisk(fixture.home);
  if (!disk) return requireReal(context, NO_SMALL_DISK);
  await fixture.begin();
  const told: string[] = [];
  const trigger = async (): Promise<number> => {
    const line = `line ${told.length}`;
    const { status, body } = await fixture.api<Started>("/of/notes", {
      line: `${line}\n`,
      padding: "x".repeat(20_000),
    });
    if (status === 202) told.push(...body.runs.map(() => line));
    return status;
  };
  expect(await trigger()).toBe(202);

  disk.fill();
  // What is left of the pages that the database has takes some more.
  const refused = await eventually(trigger, (status) => status !== 202);
  expect(refused).toBe(503);
  expect(await fixture.answer(gate, "step-1", true)).toMatchObject({ status: 503, body: { code: "STORE_FULL" } });
  const request = { type: "human_approval_request", run_id: "one", step_id: "two", content: { title: "Now?" } };
  expect((await fixture.api("/api/channel-events", request)).status).toBe(503);
  expect(await fixture.run("gated").catch(String)).toContain("STORE_FULL");
  expect((await fixture.chat.svc("approvals", "approve", gate)).stderr).toContain("STORE_FULL");
  expect((await fixture.show(gate)).status).toBe("waiting_approval");
  expect(await runsOf(fixture)).toHaveLength(told.length);
  await fixture.killed();
  await fixture.begin();
  expect([await trigger(), (await runsOf(fixture)).length]).toEqual([503, told.length]);

  disk.empty();
  expect(await eventually(trigger, (status) => status === 202)).toBe(202);
  expect((await fixture.answer(gate, "step-1", true)).status).toBe(200);
  await fixture.becomes(gate, "completed");
  // What was accepted before rests for some seconds after a refusal; a start takes it up at once.
  await fixture.chat.daemon.stop();
  await fixture.begin();
  const ended = await Promise.all(
    (await runsOf(fixture)).map((id) => fixture.becomes(id, "completed", "waiting_approval")),
  );
  expect(ended).toHaveLength(told.length);
  // A call whose end could not be noted is asked about, and not made again.
  expect(ended.filter(({ status }) => status === "waiting_approval").length).toBeLessThanOrEqual(1);
  expect(linesOf(fixture)).toEqual(told.toSorted());
  expect(await fixture.approvals("waiting")).toHaveLength(ended.filter(({ status }) => status !== "completed").length);
  expect(await fixture.chat.json("audit", "verify")).toMatchObject({ ok: true });
});

const LONG = "All that matters is written here, in more than one page of the disk. ".repeat(100);

const textOf = (word: string) => ({
  toml: `# mine\n[sop]\ndescription = "${word}"\n\n[[triggers]]\ntype = "manual"\n`,
  markdown: `# ${word}\n\n${LONG}\n\n## Steps\n\n1. **Say it** — Say ${word}.\n`,
});

interface Written {
  readonly status: number;
  readonly body: { readonly code?: string; readonly error?: string; readonly version?: number };
}

/** Writes procedures by HTTP, and looks at what is on the disk. */
class Writer {
  readonly #daemon: RunningBinary;
  readonly #token: string;
  readonly home: string;

  constructor(daemon: RunningBinary, token: string) {
    this.#daemon = daemon;
    this.#token = token;
    this.home = daemon.home;
  }

  async ask(method: string, path: string, body?: object): Promise<Written> {
    const response = await this.#daemon.request(path, { method, token: this.#token, ...(body && { body }) });
    return { status: response.status, body: (await response.json()) as Written["body"] };
  }

  async revision(path: string): Promise<string> {
    return ((await this.ask("GET", path)).body as { revision: string }).revision;
  }

  async undo(version: number): Promise<Written> {
    const revision = await this.revision(`/api/sop-versions/${version}`);
    return this.ask("POST", `/api/sop-versions/${version}/undo`, { revision });
  }

  /** Every way to change a procedure. `version` of the last change of `base`, which an undo takes back. */
  acts(version: number): Record<string, () => Promise<Written>> {
    return {
      create: () => this.ask("PUT", "/api/sops/fresh", { ...textOf("fresh"), revision: null }),
      edit: async () =>
        this.ask("PUT", "/api/sops/base", { ...textOf("edited"), revision: await this.revision("/api/sops/base") }),
      disable: () => this.ask("PATCH", "/api/sops/base", { enabled: false }),
      copy: () => this.ask("POST", "/api/sops/base/copies", { name: "copied" }),
      rename: () => this.ask("POST", "/api/sops/base/rename", { name: "renamed" }),
      delete: () => this.ask("DELETE", "/api/sops/base"),
      undo: () => this.undo(version),
    };
  }

  /** What a reader finds: every file below the folder of procedures, drafts and records too. */
  files(): Record<string, string> {
    const folder = join(this.home, "workspace", "sops");
    const names = readdirSync(folder, { recursive: true }).map(String).toSorted();
    return Object.fromEntries(
      names
        .filter((name) => statSync(join(folder, name)).isFile())
        .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
    );
  }

  /** Numbers of the versions that are kept, and whatever else lies there. */
  versions(): string[] {
    return readdirSync(join(this.home, "versions", "sops")).toSorted();
  }
}

/** With a procedure `base`, changed once. Returns the version of the change. */
async function writeBase(writer: Writer): Promise<number> {
  expect(await writer.ask("PUT", "/api/sops/base", { ...textOf("first"), revision: null })).toMatchObject({
    status: 200,
  });
  const revision = await writer.revision("/api/sops/base");
  const changed = await writer.ask("PUT", "/api/sops/base", { ...textOf("second"), revision });
  return changed.body.version!;
}

const CHANGED = "it was changed, and is as before after an undo";
const REFUSED = "409 SOP_UNWRITABLE, and nothing was changed";

/** What came of it, in words. */
async function actWithRoom(
  writer: Writer,
  act: () => Promise<Written>,
  disk: SmallDisk,
  room: number,
): Promise<string> {
  const look = (): string => JSON.stringify([writer.files(), writer.versions()]);
  const [before, files] = [look(), JSON.stringify(writer.files())];
  disk.fill(room);
  const { status, body } = await act();
  const after = look();
  disk.empty();
  if (status === 200) {
    const undone = await writer.undo(body.version!);
    const isBack = undone.status === 200 && JSON.stringify(writer.files()) === files;
    return isBack ? CHANGED : `the undo was answered ${undone.status} ${undone.body.code}`;
  }
  const isSaid = body.error?.includes("disk is full");
  const what = after === before ? "nothing was changed" : "something was changed";
  return `${status} ${body.code}, and ${isSaid ? what : `said "${body.error}"`}`;
}

describe("writing procedures", () => {
  test("on a full disk changes all that it says or nothing, whatever room is left, and goes on with room again", async (context) => {
    if (process.getuid?.() !== 0) requireReal(context, NO_SMALL_DISK);
    using home = temporaryHome();
    using disk = mountSmallDisk(SIZE_MB, home.path);
    if (!disk) return requireReal(context, NO_SMALL_DISK);
    writeFileSync(join(home.path, "config.toml"), UNGUARDED, { mode: 0o600 });
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    const writer = new Writer(daemon, token);
    const base = await writeBase(writer);
    const seen = new Map<string, Set<string>>();
    const acts = Object.entries(writer.acts(base));
    for (
      let room = 0;
      room < 1_000_000 && [...seen.values()].filter((one) => one.has(CHANGED)).length < acts.length;
      room += 8192
    ) {
      for (const [name, act] of acts) {
        const outcome = await actWithRoom(writer, act, disk, room);
        seen.set(name, (seen.get(name) ?? new Set()).add(outcome));
      }
    }
    expect(Object.fromEntries(seen)).toEqual(
      Object.fromEntries(acts.map(([name]) => [name, new Set([REFUSED, CHANGED])])),
    );

    disk.fill();
    const svc = (...words: string[]) => runBinary(words, { home: home.path });
    const before = [writer.files(), writer.versions()];
    for (const words of [
      ["new", "fresh"],
      ["rename", "base", "renamed"],
      ["delete", "base"],
      ["undo", String(base)],
    ]) {
      const { code, stderr } = await svc("sop", ...words);
      expect([code, stderr]).toEqual([73, expect.stringMatching(/Free some space[^]*SOP_UNWRITABLE/)]);
    }
    expect([writer.files(), writer.versions()]).toEqual(before);
    disk.empty();
    expect((await svc("sop", "delete", "base")).code).toBe(0);
    expect(await runBinary(["audit", "verify", "--json"], { home: home.path })).toMatchObject({ code: 0 });
  });

  test("that are read-only, file or folder, changes nothing and says so; made writable again they are changed", async (context) => {
    using home = temporaryHome();
    writeFileSync(join(home.path, "config.toml"), UNGUARDED, { mode: 0o600 });
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    const writer = new Writer(daemon, token);
    const base = await writeBase(writer);
    const acts = writer.acts(base);
    const OF_BASE = ["edit", "disable", "rename", "delete", "undo"];
    const EVERY = Object.keys(acts);
    for (const [path, refused] of [
      ["workspace/sops/base/SOP.toml", OF_BASE],
      ["workspace/sops/base/SOP.md", OF_BASE],
      ["workspace/sops/base", OF_BASE],
      ["workspace/sops", EVERY],
      ["versions/sops", EVERY],
    ] as const) {
      const before = [writer.files(), writer.versions()];
      {
        using readOnly = madeReadOnly(join(home.path, path));
        if (!readOnly) return requireReal(context, NO_SMALL_DISK);
        for (const name of refused) {
          const { status, body } = await acts[name]!();
          expect([path, name, status, body.code, body.error]).toEqual([
            path,
            name,
            409,
            "SOP_UNWRITABLE",
            expect.stringMatching(/read-only|can't be written|denies access/),
          ]);
          expect([writer.files(), writer.versions()], `${path} ${name}`).toEqual(before);
        }
        const { code, stderr } = await runBinary(["sop", "delete", "base"], { home: home.path });
        expect([code, stderr]).toEqual([73, expect.stringMatching(/writable[^]*SOP_UNWRITABLE/)]);
      }
      for (const name of path === "versions/sops" ? EVERY : ["edit"]) {
        const { status, body } = await acts[name]!();
        expect([path, name, status]).toEqual([path, name, 200]);
        expect(await writer.undo(body.version!)).toMatchObject({ status: 200 });
      }
      expect(writer.files()).toEqual(before[0]);
    }
  });
});

/** Modes do not bind root, a mount does. Undefined: no mounts here. */
function madeReadOnly(path: string): Disposable | undefined {
  if (process.getuid?.() !== 0) {
    const { mode } = statSync(path);
    chmodSync(path, mode & 0o555);
    return { [Symbol.dispose]: () => chmodSync(path, mode) };
  }
  const mount = (...words: string[]): boolean => spawnSync("mount", words).status === 0;
  if (!mount("--bind", path, path)) return undefined;
  const release = { [Symbol.dispose]: () => void spawnSync("umount", ["--lazy", path]) };
  if (mount("-o", "remount,bind,ro", path)) return release;
  release[Symbol.dispose]();
  return undefined;
}
