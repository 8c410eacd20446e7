// The log is read when something is wrong: files rotated under the reader, half lines, strangers' escape sequences.
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cases } from "@svc/cases";
import { homeOf } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { type LogFile, openLogFile } from "@svc/runtime";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { binaryPath, spawnBinary } from "@svc/testkit/binary/spawn-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  linesBackwards,
  LineSplitter,
  LONGEST_LINE_BYTES,
  openFile,
  readLog,
  sizeOf,
  type Wanted,
} from "../src/logs/read-log.ts";
import { parseSince } from "../src/logs/filters.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-logs-"));
  path = join(folder, "svc.log");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ALL: Wanted = { count: undefined, sinceMs: undefined, matches: () => true };
const lineAt = (ms: number, message: string, level = "info"): string =>
  JSON.stringify({ time: new Date(ms).toISOString(), level, message });

async function read(wanted: Partial<Wanted> = {}): Promise<string[]> {
  const lines = [];
  for await (const { text } of readLog(path, { ...ALL, ...wanted })) lines.push(text);
  return lines;
}

/** Follows the log while one step after the other is taken, and resolves with what was seen. */
async function follow(steps: readonly (() => void)[], wanted: Partial<Wanted> = {}): Promise<string[]> {
  const lines: string[] = [];
  const left = [...steps];
  const pause = async (): Promise<boolean> => {
    const step = left.shift();
    step?.();
    return step !== undefined;
  };
  for await (const { text } of readLog(path, { ...ALL, ...wanted }, pause)) lines.push(text);
  return lines;
}

const writer = (maxBytes: number, maxFiles = 1000): LogFile =>
  openLogFile({ logsDir: folder }, { maxBytes, maxFiles }, systemClock);

describe("reading", () => {
  test("backwards and onwards agree with a plain split, whatever the bytes", () => {
    const long = fc.integer({ min: 32_700, max: 32_800 }).map((count) => "ü".repeat(count));
    const part = fc.oneof(fc.constant("\n"), fc.string({ unit: "binary" }), long);
    const bytes = fc.array(part, { maxLength: 12 });
    fc.assert(
      fc.property(bytes, fc.integer({ min: 500, max: 70_000 }), (parts, chunk) => {
        const all = Buffer.from(parts.join(""));
        const expected = all
          .toString()
          .split("\n")
          .filter((text) => text !== "");
        writeFileSync(path, all);
        const file = openFile(path)!;
        const backwards = [...linesBackwards(file.handle, sizeOf(file))];
        expect(backwards.map(({ text }) => text).toReversed()).toEqual(expected);
        for (const { offset, text } of backwards) expect(all.subarray(offset).toString().startsWith(text)).toBe(true);
        const splitter = new LineSplitter();
        const onwards: string[] = [];
        for (let at = 0; at < all.length; at += chunk) onwards.push(...splitter.push(all.subarray(at, at + chunk)));
        expect([...onwards, ...splitter.flush()]).toEqual(expected);
      }),
      { numRuns: cases(25) },
    );
  });

  test("a file without a line break fills no memory: the line is cut", () => {
    writeFileSync(path, Buffer.alloc(LONGEST_LINE_BYTES * 8, "x"));
    const file = openFile(path)!;
    const [only, ...more] = [...linesBackwards(file.handle, sizeOf(file))];
    expect([only!.offset, more.length, only!.text.length]).toEqual([0, 0, LONGEST_LINE_BYTES + 1]);
  });

  test("the last lines that match, over all files, in order", async () => {
    const log = writer(200);
    for (let count = 0; count < 50; count += 1) log.write(lineAt(count, `${count}`, count % 2 ? "warn" : "info"));
    const warnings = (await read({ count: 5, matches: ({ entry }) => entry?.level === "warn" })).map(
      (text) => (JSON.parse(text) as { message: string }).message,
    );
    expect(warnings).toEqual(["41", "43", "45", "47", "49"]);
    expect(await read()).toHaveLength(50);
    expect(await read({ count: 0 })).toEqual([]);
    const since = await read({ sinceMs: 40, matches: ({ entry }) => Date.parse(entry!.time) >= 40 });
    expect(since).toHaveLength(10);
  });

  test("half a line at the end is shown; no file at all is no lines", async () => {
    expect(await read()).toEqual([]);
    writeFileSync(path, '{"a":1}\n{"half":');
    expect(await read()).toEqual(['{"a":1}', '{"half":']);
  });
});

describe("following", () => {
  test("no line is lost or seen twice, however often the log is rotated between two looks", async () => {
    const steps = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 10, max: 90 }), async (counts, maxBytes) => {
        rmSync(folder, { recursive: true, force: true });
        const log = writer(maxBytes);
        const written: string[] = [];
        const write = (count: number) => () => {
          for (let each = 0; each < count; each += 1) {
            written.push(`line ${written.length}`);
            log.write(written.at(-1)!);
          }
        };
        expect(await follow(counts.map(write))).toEqual(written);
        log.close();
      }),
      { numRuns: cases(50) },
    );
  });

  test("logrotate (renamed), copytruncate (emptied), removed: it goes on", async () => {
    const log = writer(1e6);
    const write = (text: string) => () => log.write(text);
    const seen = await follow([
      write("1"),
      () => renameSync(path, join(folder, "svc.log-20261121")),
      write("2"),
      () => truncateSync(path),
      write("3"),
      () => rmSync(path),
      write("4"),
    ]);
    expect(seen).toEqual(["1", "2", "3", "4"]);
  });

  test("half a line is shown when its other half comes, or when nothing more can come", async () => {
    const append = (text: string) => () => appendFileSync(path, text);
    const seen = await follow([
      append('{"a'),
      append('":1}'),
      append("\nhalf"),
      () => renameSync(path, `${path}.1`),
      append("new\n"),
    ]);
    expect(seen).toEqual(['{"a":1}', "half", "new"]);
  });

  test("a log that is not there yet is waited for", async () => {
    rmSync(folder, { recursive: true });
    const steps = [() => {}, () => mkdirSync(folder), () => writeFileSync(path, "first\n")];
    expect(await follow(steps)).toEqual(["first"]);
  });
});

describe("--since", () => {
  test("a number and a unit is that long ago", () => {
    const unit = fc.constantFrom(["s", 1000] as const, ["m", 60_000] as const, ["h", 3_600_000] as const, ["d", 864e5]);
    fc.assert(
      fc.property(fc.nat(999_999), unit, (count, [name, ms]) => {
        expect(parseSince(`${count}${name}`, 1e13)).toBe(1e13 - count * Number(ms));
      }),
    );
  });

  test.each(["", "1", "m", "10", "-1m", "1.5h", "1h30m", "2026", "2026-13-01", "yesterday", "1e3s"])(
    "%s is no time",
    (text) => expect(parseSince(text, 0)).toBeUndefined(),
  );

  test("a date is that moment; no text makes a moment that is none", () => {
    expect(parseSince("2026-03-01T12:30:05Z", 0)).toBe(Date.UTC(2026, 2, 1, 12, 30, 5));
    expect(parseSince("2026-03-01 12:30+02:00", 0)).toBe(Date.UTC(2026, 2, 1, 10, 30));
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const ms = parseSince(text, 0);
        expect(ms === undefined || Number.isFinite(ms)).toBe(true);
      }),
    );
  });
});

describe("svc logs", () => {
  const HOSTILE = "\u001b[2J\u009b31m\u202e";

  test("shows lines without a daemon; nothing in them drives the terminal", async () => {
    using home = temporaryHome();
    const log = openLogFile(homeOf({ SVC_HOME: home.path }), { maxBytes: 1e6, maxFiles: 2 }, systemClock);
    log.write(lineAt(Date.now(), `hello ${HOSTILE}`, "warn"));
    log.write(`{"time":"${HOSTILE.slice(4)}","level":"error","message":"x","a":{"b":"${HOSTILE.slice(4)}"}}`);
    log.write(`raw ${HOSTILE}`);
    const shown = await runBinary(["logs"], { home: home.path });
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toMatch(/ warn  hello \\u001b\[2J/);
    expect(shown.stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    const json = await runBinary(["logs", "--json", "-n", "3"], { home: home.path });
    expect(json.stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    const lines = json.stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { message: `hello ${HOSTILE}` },
      { level: "error" },
      { unreadable: `raw ${HOSTILE}` },
    ]);
    expect((await runBinary(["logs", "--level", "error"], { home: home.path })).stdout.trim().split("\n")).toHaveLength(
      1,
    );
    expect((await runBinary(["logs", "--since", "1h"], { home: home.path })).stdout).toContain("hello");
  });

  test.each([["--level", "loud"], ["--since", "soon"], ["-n", "-1"], ["-n", "many"], ["extra"]])(
    "%s %s is exit 64",
    async (...words) => {
      using home = temporaryHome();
      expect((await runBinary(["logs", ...words], { home: home.path })).code).toBe(64);
    },
  );

  test("an unreadable file is exit 66; no log is said, and is no failure", async () => {
    using home = temporaryHome();
    const none = await runBinary(["logs"], { home: home.path });
    expect(none).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("svc.log") });
    mkdirSync(join(home.path, "logs", "svc.log"), { recursive: true });
    expect((await runBinary(["logs"], { home: home.path })).code).toBe(66);
  });

  test("-f shows what comes, ends with Ctrl-C as a success, and quietly when nobody reads any more", async () => {
    using home = temporaryHome();
    const log = openLogFile(homeOf({ SVC_HOME: home.path }), { maxBytes: 1e6, maxFiles: 2 }, systemClock);
    log.write(lineAt(0, "before"));
    const start = async () => {
      const child = spawnBinary(binaryPath(), ["logs", "-f"], home.path);
      let errors = "";
      child.stderr!.on("data", (chunk) => (errors += String(chunk)));
      const ended = once(child, "close").then(([code, signal]) => [code, signal, errors] as const);
      const says = async (text: string): Promise<void> => {
        for (let seen = ""; !seen.includes(text);) seen += String((await once(child.stdout!, "data"))[0]);
      };
      await says("before");
      return { child, ended, says };
    };
    const first = await start();
    const after = first.says("after");
    log.write(lineAt(0, "after"));
    await after;
    first.child.kill("SIGINT");
    expect(await first.ended).toEqual([0, null, ""]);
    const second = await start();
    second.child.stdout!.destroy();
    log.write(lineAt(0, "nobody reads this"));
    expect(await second.ended).toEqual([0, null, ""]);
    expect(readFileSync(join(home.path, "logs", "svc.log"), "utf8")).toContain("nobody reads this");
  });
});
