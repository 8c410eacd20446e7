// A busy service must not pay a write to the disk for each line that only tells what went well; and nothing that warns may
// wait for it, overtake it, or be lost.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LoggerOptions, createLogger } from "../src/index.ts";
import { FakeClock } from "./fake-clock.ts";

type Level = "debug" | "info" | "warn" | "error";

/** A logger whose lines can wait, and where they went, one text a write. */
function waiting(options: Partial<LoggerOptions> = {}) {
  const said: string[] = [];
  const filed: string[] = [];
  const due: (() => void)[] = [];
  const log = createLogger({
    level: "debug",
    json: true,
    clock: new FakeClock(),
    write: (lines) => said.push(lines),
    file: { write: (lines) => filed.push(lines) },
    later: (flush) => due.push(flush),
    ...options,
  });
  const pass = (): void => due.splice(0).forEach((flush) => flush());
  return { log, said, filed, due, pass };
}

const messages = (writes: readonly string[]): string[] =>
  writes.flatMap((lines) => lines.split("\n")).map((line) => (JSON.parse(line) as { message: string }).message);

describe("lines that can wait", () => {
  test("are written together, in both places, and asked for once", () => {
    const { log, said, filed, due, pass } = waiting();
    for (const text of ["a", "b", "c"]) log.info(text);
    expect([said, filed, due.length]).toEqual([[], [], 1]);
    pass();
    expect([said.length, filed.length]).toEqual([1, 1]);
    expect(messages(filed)).toEqual(["a", "b", "c"]);
    log.debug("d");
    pass();
    expect(messages(said)).toEqual(["a", "b", "c", "d"]);
  });

  test("go with what warns, before it, and are not written twice", () => {
    const { log, said, pass } = waiting();
    log.info("a");
    log.warn("b");
    expect(messages(said)).toEqual(["a", "b"]);
    pass();
    expect(said).toHaveLength(1);
  });

  test("are readable where people look and JSON in the file", () => {
    const { log, said, filed, pass } = waiting({ json: false });
    log.info("a", { port: 1 });
    log.info("b");
    pass();
    expect(said[0]!.split("\n").map((line) => line.slice(25))).toEqual(["info  a port=1", "info  b"]);
    expect(messages(filed)).toEqual(["a", "b"]);
  });

  test("wait for no more than 64 kB", () => {
    const { log, said } = waiting();
    for (let count = 0; count < 100; count += 1) log.info("x".repeat(1000));
    expect(said.length).toBeGreaterThan(0);
    expect(Math.max(...said.map(({ length }) => length))).toBeLessThan(70_000);
  });

  test("are in the file that was the log's when they were written", () => {
    const { log, filed, pass } = waiting();
    const other: string[] = [];
    log.info("a");
    log.setFile({ write: (lines) => other.push(lines) });
    log.info("b");
    pass();
    expect([messages(filed), messages(other)]).toEqual([["a"], ["b"]]);
  });

  test("come out whole, once and in order, however they are mixed", () => {
    const step = fc.oneof(fc.constantFrom<Level>("debug", "info", "warn", "error"), fc.constant("pass" as const));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { log, said, filed, pass } = waiting();
        const expected: string[] = [];
        for (const [index, what] of steps.entries()) {
          if (what === "pass") pass();
          else {
            log[what](`line ${index}`);
            expected.push(`line ${index}`);
          }
        }
        pass();
        expect(messages(said)).toEqual(expected);
        expect(messages(filed)).toEqual(expected);
      }),
    );
  });

  test("a file that can't be written is told of once for all of them", () => {
    const broken = {
      write: () => {
        throw new Error("the disk is full");
      },
    };
    const { log, said, pass } = waiting({ file: broken });
    log.info("a");
    log.info("b");
    pass();
    expect(messages(said)).toEqual(["a", "b", "the disk is full"]);
  });
});
