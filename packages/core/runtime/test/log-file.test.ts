// The log must survive a crash and a logrotate, stay bounded and private, and never be why the service stops.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type LogFile, type LogFileLimits, asideNumbers, openLogFile } from "../src/index.ts";
import { FakeClock } from "./fake-clock.ts";

let logsDir: string;
let file: string;
let clock: FakeClock;
const open: LogFile[] = [];

beforeEach(() => {
  logsDir = join(mkdtempSync(join(tmpdir(), "svc-log-")), "logs");
  file = join(logsDir, "svc.log");
  clock = new FakeClock();
});
afterEach(() => {
  for (const each of open.splice(0)) each.close();
  rmSync(join(logsDir, ".."), { recursive: true, force: true });
});

function logFile(limits: Partial<LogFileLimits> = {}): LogFile {
  const made = openLogFile({ logsDir }, { maxBytes: 1000, maxFiles: 3, ...limits }, clock);
  open.push(made);
  return made;
}

const text = (path = file): string => readFileSync(path, "utf8");

describe("writing", () => {
  test("a line is on disk when write returns; folder and file are the owner's alone, also those that were there", () => {
    const log = logFile();
    log.write("one");
    expect(text()).toBe("one\n");
    expect([statSync(logsDir).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
    log.close();
    chmodSync(logsDir, 0o755);
    chmodSync(file, 0o644);
    log.write("two");
    expect([statSync(logsDir).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(text()).toBe("one\ntwo\n");
  });

  test("no line is lost or cut by rotation, and no file grows past the limit, whatever the lines", () => {
    const line = fc.string({ minLength: 1, maxLength: 60, unit: fc.constantFrom("a", "ü", "😀") });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), fc.integer({ min: 1, max: 100 }), (lines, maxBytes) => {
        rmSync(logsDir, { recursive: true, force: true });
        const log = logFile({ maxBytes, maxFiles: 1000 });
        for (const each of lines) log.write(each);
        log.close();
        const files = [
          ...asideNumbers(file)
            .reverse()
            .map((number) => `${file}.${number}`),
          file,
        ];
        const kept = lines.length === 0 ? [] : files.map((each) => text(each));
        expect(kept.join("")).toBe(lines.map((each) => `${each}\n`).join(""));
        for (const each of kept) {
          expect(Buffer.byteLength(each) <= maxBytes || each.indexOf("\n") === each.length - 1).toBe(true);
        }
      }),
      { numRuns: cases(50) },
    );
  });

  test("the oldest goes first; a smaller number of files takes effect at the next rotation", () => {
    const log = logFile({ maxBytes: 3 });
    for (const each of ["1", "2", "3", "4", "5", "6", "7", "8"]) log.write(each);
    expect([text(), text(`${file}.1`), text(`${file}.2`), asideNumbers(file)]).toEqual(["8\n", "7\n", "6\n", [1, 2]]);
    log.setLimits({ maxBytes: 3, maxFiles: 1 });
    log.write("9");
    expect([text(), asideNumbers(file)]).toEqual(["9\n", []]);
  });

  test("a gap in the numbers, as a crash in the middle of a rotation leaves it, pushes nothing out", () => {
    mkdirSync(logsDir);
    writeFileSync(`${file}.2`, "old\n");
    const log = logFile({ maxBytes: 3, maxFiles: 3 });
    log.write("1");
    log.write("2");
    expect([text(), text(`${file}.1`), text(`${file}.2`)]).toEqual(["2\n", "1\n", "old\n"]);
  });

  test("files of other names are nobody's to rotate", () => {
    mkdirSync(logsDir);
    for (const name of ["svc.log.gz", "svc.log.1.gz", "svc.log.01", "svc.log.-1", "other.log.1"])
      writeFileSync(join(logsDir, name), "theirs");
    const log = logFile({ maxBytes: 3, maxFiles: 2 });
    for (const each of ["1", "2", "3", "4"]) log.write(each);
    expect(asideNumbers(file)).toEqual([1]);
    expect(text(`${file}.1.gz`)).toBe("theirs");
  });
});

describe("somebody else at the file", () => {
  test("renamed (logrotate), removed with its folder, emptied (copytruncate): written where it belongs", () => {
    const log = logFile();
    log.write("1");
    renameSync(file, join(logsDir, "kept"));
    log.write("2");
    expect([text(join(logsDir, "kept")), text()]).toEqual(["1\n", "2\n"]);
    rmSync(logsDir, { recursive: true });
    log.write("3");
    expect(text()).toBe("3\n");
    truncateSync(file);
    log.write("4");
    expect(text()).toBe("4\n");
  });

  test("half a line at the end, left by a crash, does not swallow the next one", () => {
    mkdirSync(logsDir);
    writeFileSync(file, '{"half":');
    const log = logFile();
    log.write("whole");
    expect(text()).toBe('{"half":\nwhole\n');
  });
});

describe("when it can't be written", () => {
  /** What can't be a log file. Root may write everything, so that permissions prove nothing here. */
  const obstacles: Record<string, () => void> = {
    "a folder in its place": () => mkdirSync(file, { recursive: true }),
    "a file in the folder's place": () => writeFileSync(logsDir, ""),
    "a symbolic link": () => {
      mkdirSync(logsDir);
      symlinkSync("/dev/null", file);
    },
    "a FIFO that nobody reads": () => {
      mkdirSync(logsDir);
      execFileSync("mkfifo", [file]);
    },
  };

  test.each(Object.entries(obstacles))(
    "%s: said once, then lines are dropped until it works again",
    async (_, obstruct) => {
      obstruct();
      const log = logFile();
      expect(() => log.write("1")).toThrow(/svc\.log can't be written \([A-Z]+\)/);
      for (let count = 0; count < 1000; count += 1) log.write("lost");
      await clock.advance(10_000);
      log.write("still lost, and not said again");
      rmSync(logsDir, { recursive: true });
      log.write("lost: it is not tried at every line\nand neither is a second one");
      await clock.advance(10_000);
      log.write("kept");
      const [gap, ...rest] = text().split("\n");
      expect(JSON.parse(gap!)).toMatchObject({ level: "warn", lost: 1004 });
      expect(rest).toEqual(["kept", ""]);
      rmSync(logsDir, { recursive: true });
      writeFileSync(logsDir, "");
      expect(() => log.write("a second trouble is said again")).toThrow("can't be written");
    },
  );

  test("a disk that fills up in the middle of a line: said, and the next line that fits is a line of its own", () => {
    const script = `
      import { systemClock } from ${JSON.stringify(import.meta.resolve("@svc/kit/system-clock"))};
      import { openLogFile } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)};
      const log = openLogFile({ logsDir: process.argv[1] }, { maxBytes: 1e6, maxFiles: 3 }, systemClock);
      try {
        for (let count = 0; count < 20; count += 1) log.write("x".repeat(99));
      } catch (error) {
        process.stdout.write(error.message);
      }`;
    const run = (before: string, ...words: string[]): string =>
      execFileSync("bash", ["-c", `${before}exec "$0" "$@"`, process.execPath, ...words], { encoding: "utf8" });
    const said = run("ulimit -f 1; ", "--input-type=module", "--eval", script, logsDir);
    expect(said).toMatch(/can't be written \(ENOSPC\)/);
    expect(text()).toHaveLength(1024);
    logFile({ maxBytes: 1e6 }).write("next");
    expect(text()).toMatch(/x{24}\nnext\n$/);
  });
});
