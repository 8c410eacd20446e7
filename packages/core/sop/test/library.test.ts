// Procedures are changed while the service runs: by editors that write half a file, by hand with mistakes in it, by a checkout
// that swaps folders. What was right must stay in force until something right takes its place.
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import fsp from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { captureLogger, fakeClock, settled, temporaryHome, type TemporaryHome } from "@svc/testkit";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { checkSops, type CheckOptions } from "../src/library/check.ts";
import { createLibrary } from "../src/library/library.ts";
import type { ExecutionMode, SopLibrary } from "../src/library/types.ts";

const STEPS = "## Steps\n\n1. **Look** — at it\n";
const toml = (path = "/x", more = ""): string => `[sop]\n${more}\n[[triggers]]\ntype = "webhook"\npath = "${path}"\n`;

let home: TemporaryHome;
let folder = "";
let mode: ExecutionMode = "supervised";
let reserved: string[] = [];
const clock = fakeClock();
let log = captureLogger();
let library: SopLibrary;
let told = 0;

beforeEach(() => {
  home = temporaryHome();
  folder = join(home.path, "sops");
  [mode, reserved, log, told] = ["supervised", [], captureLogger(), 0];
  library = createLibrary({ clock, log, folder: () => folder, defaultMode: () => mode, reserved: () => reserved });
  library.onChange(() => (told += 1));
});
afterEach(() => {
  library.stop();
  home.remove();
});

function write(name: string, files: { toml?: string; md?: string } = {}): void {
  const at = join(folder, name);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "SOP.toml"), files.toml ?? toml());
  writeFileSync(join(at, "SOP.md"), files.md ?? STEPS);
}
const names = (): string[] => library.list().map(({ definition }) => definition.name);
const event = (topic: string) => ({ source: "webhook", topic, payload: null }) as const;

describe("what is there", () => {
  test("is loaded in the order of the names; files and folders of other kinds are nothing", async () => {
    for (const name of ["b", "a", "0-x_y"]) write(name);
    write(".git");
    mkdirSync(join(folder, "empty"));
    writeFileSync(join(folder, "README.md"), "hello");
    await library.reload();
    expect(names()).toEqual(["0-x_y", "a", "b"]);
    expect(library.broken()).toEqual([]);
    expect(library.get("a")?.definition.mode).toBe("supervised");
    expect(library.get("c")).toBeUndefined();
    expect(library.matching(event("/x"))).toHaveLength(3);
  });

  test("a folder that does not exist has none, and may come to exist", async () => {
    await library.reload();
    expect([library.list(), library.broken(), told]).toEqual([[], [], 0]);
    write("a");
    await library.reload();
    expect([names(), told]).toEqual([["a"], 1]);
  });

  test("what is wrong is told by file and line, and is not there", async () => {
    write("bad", { toml: toml("/api/x") });
    write("Capital");
    write("x".repeat(65));
    write("no-toml");
    rmSync(join(folder, "no-toml/SOP.toml"));
    await library.reload();
    expect(names()).toEqual([]);
    expect(library.broken()).toEqual([
      { name: "bad", problem: "SOP.toml:5  triggers[0].path: is a path of the service itself" },
      { name: "no-toml", problem: expect.stringContaining("does not exist") },
      { name: "Capital", problem: expect.stringContaining("named a-z") },
      { name: "x".repeat(65), problem: expect.stringContaining("named a-z") },
    ]);
    expect(log.lines.filter(({ level }) => level === "warn")).toHaveLength(4);
  });

  test.each([
    [
      "a file too large",
      () => writeFileSync(join(folder, "a/SOP.md"), `${STEPS}${"x".repeat(256 * 1024)}`),
      /larger than 256/,
    ],
    ["no UTF-8", () => writeFileSync(join(folder, "a/SOP.md"), Buffer.from([0xff, 0xfe, 0x41])), /UTF-8/],
    [
      "a folder for a file",
      () => (rmSync(join(folder, "a/SOP.md")), mkdirSync(join(folder, "a/SOP.md"))),
      /is no file/,
    ],
    [
      "a link around in a circle",
      () => (rmSync(join(folder, "a/SOP.md")), symlinkSync("SOP.md", join(folder, "a/SOP.md"))),
      /leads nowhere/,
    ],
    [
      "a device",
      () => (rmSync(join(folder, "a/SOP.md")), symlinkSync("/dev/zero", join(folder, "a/SOP.md"))),
      /is no file|out of the workspace/,
    ],
  ])("%s is told", async (_name, spoil, message) => {
    write("a");
    spoil();
    await library.reload();
    expect(library.broken()).toEqual([{ name: "a", problem: expect.stringMatching(message) }]);
  });
});

describe("links", () => {
  test("within the workspace lead to a procedure", async () => {
    write("../elsewhere/a");
    write("real");
    symlinkSync(join(home.path, "elsewhere/a"), join(folder, "linked"));
    writeFileSync(join(home.path, "steps.md"), STEPS);
    rmSync(join(folder, "real/SOP.md"));
    symlinkSync("../../steps.md", join(folder, "real/SOP.md"));
    await library.reload();
    expect(names()).toEqual(["linked", "real"]);
  });

  test("out of it are refused, whichever part of the way is one", async () => {
    using outside = temporaryHome();
    mkdirSync(join(outside.path, "sop"));
    writeFileSync(join(outside.path, "sop/SOP.toml"), toml());
    writeFileSync(join(outside.path, "sop/SOP.md"), STEPS);
    write("file");
    rmSync(join(folder, "file/SOP.toml"));
    symlinkSync(join(outside.path, "sop/SOP.toml"), join(folder, "file/SOP.toml"));
    symlinkSync(join(outside.path, "sop"), join(folder, "dir"));
    await library.reload();
    expect(names()).toEqual([]);
    expect(library.broken().map(({ problem }) => problem)).toEqual([
      expect.stringContaining("out of the workspace"),
      expect.stringContaining("out of the workspace"),
    ]);
    rmSync(folder, { recursive: true });
    symlinkSync(outside.path, folder);
    await library.reload();
    expect(names()).toEqual([]);
    expect(library.broken()).toEqual([{ name: "sop", problem: expect.stringContaining("out of the workspace") }]);
  });
});

test("a link that leads out only at the moment of the opening is found out", async () => {
  using outside = temporaryHome();
  writeFileSync(join(outside.path, "SOP.toml"), toml("/stolen"));
  write("a");
  const file = join(folder, "a/SOP.toml");
  rmSync(file);
  symlinkSync(join(outside.path, "SOP.toml"), file);
  const { realpath } = fsp;
  let swaps = 0;
  const swap: typeof realpath = ((path: string) => {
    if (path === file) {
      swaps += 1;
      rmSync(file);
      writeFileSync(file, toml("/good"));
    }
    return realpath(path);
  }) as typeof realpath;
  {
    using _patch = patched({ realpath: swap });
    await library.reload();
  }
  expect(library.hasPath("/stolen")).toBe(false);
  // Nor is it looked at for ever, when it is another one each time.
  expect(swaps).toBeLessThan(10);
  await library.reload();
  expect(library.hasPath("/good")).toBe(true);
});

/** The file system as somebody else makes it look, until the end of the block. */
function patched(calls: Partial<typeof fsp>): Disposable {
  const before = { ...fsp };
  Object.assign(fsp, calls);
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      Object.assign(fsp, before);
      syncBuiltinESMExports();
    },
  };
}

describe("a change", () => {
  test("takes the place of what was there, and is told once", async () => {
    write("a");
    await library.reload();
    const before = library.get("a");
    write("a", { toml: toml("/y") });
    await library.reload();
    expect(library.get("a")).not.toBe(before);
    expect([library.hasPath("/x"), library.hasPath("/y"), told]).toEqual([false, true, 2]);
    await library.reload();
    utimesSync(join(folder, "a/SOP.toml"), 1, 1);
    await library.reload();
    expect(told).toBe(2);
  });

  test("to something wrong keeps the last good version and says so, once", async () => {
    write("a");
    await library.reload();
    for (const text of ["[sop", "", toml("/api/x")]) {
      write("a", { toml: text });
      await library.reload();
      await library.reload();
      expect(library.get("a")).toMatchObject({
        problem: expect.stringMatching(/^SOP\.toml/),
        definition: { name: "a" },
      });
      expect(library.matching(event("/x"))).toHaveLength(1);
      expect(library.broken()).toEqual([]);
    }
    expect(log.lines.filter(({ message }) => message.includes("version before"))).toHaveLength(3);
    write("a");
    await library.reload();
    expect(library.get("a")?.problem).toBeUndefined();
    expect(log.lines.at(-1)).toMatchObject({ level: "info", fields: { sop: "a" } });
  });

  test("that takes SOP.toml away takes the procedure out of force", async () => {
    write("a");
    write("b");
    await library.reload();
    rmSync(join(folder, "a/SOP.toml"));
    rmSync(join(folder, "b"), { recursive: true });
    await library.reload();
    expect(names()).toEqual([]);
    expect(library.hasPath("/x")).toBe(false);
    expect(library.broken()).toEqual([{ name: "a", problem: expect.stringContaining("does not exist") }]);
    expect(log.text()).toContain("was removed");
  });

  test("of the config is looked at by the next reload", async () => {
    write("a");
    write("b", { toml: toml("/x", 'execution_mode = "auto"') });
    await library.reload();
    mode = "step_by_step";
    await library.reload();
    expect(library.list().map(({ definition }) => definition.mode)).toEqual(["step_by_step", "auto"]);
    reserved = ["/x"];
    await library.reload();
    expect(library.list().every(({ problem }) => problem !== undefined)).toBe(true);
    folder = join(home.path, "others");
    write("c", { toml: toml("/z") });
    await library.reload();
    expect(names()).toEqual(["c"]);
  });

  test("of a folder that can't be read leaves what is loaded", async () => {
    write("a");
    await library.reload();
    rmSync(folder, { recursive: true });
    symlinkSync("sops", folder);
    await library.reload();
    expect(names()).toEqual(["a"]);
    expect(log.lines.at(-1)).toMatchObject({ level: "error" });
  });

  test("only changed files are read again", async () => {
    write("a");
    write("b");
    await library.reload();
    const opened: string[] = [];
    const { open } = fsp;
    using _patch = patched({ open: (path, ...rest) => (opened.push(String(path)), open(path, ...rest)) });
    await library.reload();
    expect(opened).toEqual([]);
    write("b", { toml: toml("/y") });
    await library.reload();
    expect(opened.toSorted()).toEqual([join(folder, "b/SOP.md"), join(folder, "b/SOP.toml")]);
  });
});

describe("a file that is being written", () => {
  /** As if it had been written just now, by the clock of the test. */
  const touch = (name: string): void =>
    utimesSync(join(folder, name, "SOP.toml"), clock.now() / 1000, clock.now() / 1000);

  test("is left alone until it has rested for a moment", async () => {
    write("a", { toml: toml("/whole") });
    await library.reload();
    write("a", { toml: "[sop]\n" });
    touch("a");
    const done = library.reload();
    await vi.waitFor(() => expect(clock.waiting).toBeGreaterThan(0));
    expect(library.hasPath("/whole")).toBe(true);
    write("a", { toml: toml("/now") });
    touch("a");
    for (let look = 0; look < 5; look += 1) {
      await clock.advance(100);
      await settled();
    }
    await vi.waitFor(async () => {
      await clock.advance(100);
      expect(library.hasPath("/now")).toBe(true);
    });
    await done;
    expect(told).toBe(2);
  });
});

test("one that no reader can take keeps no other from being loaded", async () => {
  write("deep", { toml: `[sop]\n[[steps]]\nargs=${"{a=".repeat(20_000)}1${"}".repeat(20_000)}` });
  write("good");
  await library.reload();
  expect(names()).toEqual(["good"]);
  expect(library.broken()).toMatchObject([{ name: "deep" }]);
});

test("reloads at the same time are one after the other, and the last sees all", async () => {
  const all = Array.from({ length: 20 }, (_one, index) => {
    write(`s${index}`);
    return library.reload();
  });
  await Promise.all(all);
  expect(names()).toHaveLength(20);
  expect(told).toBeLessThanOrEqual(3);
});

describe("watching sees", () => {
  /** The system tells of a change when it likes. All of the test's time together is less than the 30 s to the next look. */
  let leftMs = 29_000;
  const until = (holds: () => boolean): Promise<void> =>
    vi.waitFor(
      async () => {
        leftMs -= 100;
        if (leftMs > 0) await clock.advance(100);
        expect(holds()).toBe(true);
      },
      { timeout: 15_000, interval: 50 },
    );

  test("a folder that comes, one that is replaced, one that goes", async () => {
    library.watch();
    await library.reload();
    write("a");
    await until(() => names().length === 1);
    writeFileSync(join(folder, "a/.SOP.toml.tmp"), toml("/renamed"));
    renameSync(join(folder, "a/.SOP.toml.tmp"), join(folder, "a/SOP.toml"));
    await until(() => library.hasPath("/renamed"));
    renameSync(join(folder, "a"), join(home.path, "old-a"));
    write("a", { toml: toml("/new-folder") });
    await until(() => library.hasPath("/new-folder"));
    write("a", { toml: toml("/in-it") });
    await until(() => library.hasPath("/in-it"));
    renameSync(folder, join(home.path, "old"));
    write("b", { toml: toml("/b") });
    await until(() => library.hasPath("/b") && !library.hasPath("/in-it"));
    write("b", { toml: toml("/c") });
    await until(() => library.hasPath("/c"));
    rmSync(join(folder, "b"), { recursive: true });
    await until(() => names().length === 0);
    expect(library.broken()).toEqual([]);
  });

  test("every 30 seconds what nobody told of, and nothing once stopped", async () => {
    library.watch();
    await library.reload();
    const outside = join(home.path, "elsewhere");
    // Behind a link no change is told.
    folder = join(home.path, "far/sops");
    await library.reload();
    mkdirSync(outside);
    mkdirSync(join(home.path, "far"));
    write("a");
    await clock.advance(30_000);
    await vi.waitFor(() => expect(names()).toEqual(["a"]));
    library.stop();
    expect(clock.waiting).toBe(0);
  });
});

describe("checked for a person", () => {
  const options: CheckOptions = { defaultMode: "supervised", reserved: [], known: { nowMs: 0 } };

  test("all of them, with all their problems and warnings", async () => {
    write("good");
    write("bad", { toml: '[sop]\nname = "x"\npriority = "y"\n', md: "## Steps\n" });
    write("Worse");
    expect(await checkSops(folder, options)).toMatchObject([
      { name: "Worse", problems: [{ file: join(folder, "Worse"), message: expect.stringContaining("named") }] },
      {
        name: "bad",
        problems: [
          { file: join(folder, "bad/SOP.toml"), line: 2, key: "sop.name" },
          { line: 3, key: "sop.priority" },
          { file: join(folder, "bad/SOP.md"), message: expect.stringContaining("no step") },
        ],
      },
      { name: "good", problems: [], warnings: [], definition: { name: "good" } },
    ]);
    expect(await checkSops(join(home.path, "none"), options)).toEqual([]);
  });
});
