// Procedures are changed while the service runs: by editors that write half a file, by hand with mistakes in it, by a checkout
// that swaps folders. What was right must stay in force until something right takes its place.
import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import fsp from "node:fs/promises";
import { join } from "node:path";
import { settled } from "@svc/testkit/fake-clock";
import { describe, expect, test, vi } from "vitest";
import {
  at,
  clock,
  config,
  home,
  library,
  libraryForEachTest,
  log,
  names,
  patched,
  STEPS,
  toml,
  told,
  write,
} from "./library-fixture.ts";

libraryForEachTest();

const WAIT = { timeout: 120_000 };

const event = (topic: string) => ({ source: "webhook", topic, payload: null }) as const;

describe("what is there", () => {
  test("is loaded in the order of the names; files and folders of other kinds are nothing", async () => {
    for (const name of ["b", "a", "0-x_y"]) write(name);
    write(".git");
    mkdirSync(at("empty"));
    writeFileSync(at("README.md"), "hello");
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
    rmSync(at("no-toml/SOP.toml"));
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
    ["a file too large", () => writeFileSync(at("a/SOP.md"), `${STEPS}${"x".repeat(256 * 1024)}`), /larger than 256/],
    ["no UTF-8", () => writeFileSync(at("a/SOP.md"), Buffer.from([0xff, 0xfe, 0x41])), /UTF-8/],
    ["a folder for a file", () => (rmSync(at("a/SOP.md")), mkdirSync(at("a/SOP.md"))), /is no file/],
    [
      "a link around in a circle",
      () => (rmSync(at("a/SOP.md")), symlinkSync("SOP.md", at("a/SOP.md"))),
      /leads nowhere/,
    ],
    [
      "a device",
      () => (rmSync(at("a/SOP.md")), symlinkSync("/dev/zero", at("a/SOP.md"))),
      /is no file|out of the workspace/,
    ],
  ])("%s is told", async (_name, spoil, message) => {
    write("a");
    spoil();
    await library.reload();
    expect(library.broken()).toEqual([{ name: "a", problem: expect.stringMatching(message) }]);
  });
});

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
    utimesSync(at("a/SOP.toml"), 1, 1);
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
    rmSync(at("a/SOP.toml"));
    rmSync(at("b"), { recursive: true });
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
    config.mode = "step_by_step";
    await library.reload();
    expect(library.list().map(({ definition }) => definition.mode)).toEqual(["step_by_step", "auto"]);
    config.reserved = ["/x"];
    await library.reload();
    expect(library.list().every(({ problem }) => problem !== undefined)).toBe(true);
    config.folder = join(home.path, "others");
    write("c", { toml: toml("/z") });
    await library.reload();
    expect(names()).toEqual(["c"]);
  });

  test("of a folder that can't be read leaves what is loaded", async () => {
    write("a");
    await library.reload();
    rmSync(config.folder, { recursive: true });
    symlinkSync("sops", config.folder);
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
    expect(opened.toSorted()).toEqual([at("b/SOP.md"), at("b/SOP.toml")]);
  });
});

describe("a file that is being written", () => {
  /** As if it had been written just now, by the clock of the test. */
  const touch = (name: string): void => utimesSync(at(`${name}/SOP.toml`), clock.now() / 1000, clock.now() / 1000);

  test("is left alone until it has rested for a moment", async () => {
    write("a", { toml: toml("/whole") });
    await library.reload();
    write("a", { toml: "[sop]\n" });
    touch("a");
    const done = library.reload();
    await vi.waitFor(() => expect(clock.waiting).toBeGreaterThan(0), WAIT);
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
    }, WAIT);
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
