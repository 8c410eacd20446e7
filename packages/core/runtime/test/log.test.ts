// Nothing configured as a secret ever reaches a log line, and no value can forge a second line or drive a terminal.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LoggerOptions, createLogger, jsonLine, parseLogLine, readableLine, withFields } from "../src/index.ts";
import { DOTS, createRedactor } from "@svc/config";
import { FakeClock } from "./fake-clock.ts";
import { captureLog } from "./fake-features.ts";

function loggerWith(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  return { log: createLogger({ level: "debug", write, json: true, clock: new FakeClock(), ...options }), lines };
}

const TOKEN = `svc_${"0123456789abcdef".repeat(4)}`;

describe("lines", () => {
  test("JSON: one object a line, fields beside time, level and message, which no field can replace", () => {
    const { log, lines } = loggerWith();
    log.info("hello", { port: 1, ok: true, gone: undefined, message: "forged", level: "error" });
    expect(lines).toEqual([
      '{"time":"2023-11-14T22:13:20.000Z","level":"info","message":"hello","port":1,"ok":true,"message_":"forged","level_":"error"}',
    ]);
  });

  test("readable: one line, values quoted where needed", () => {
    const { log, lines } = loggerWith({ json: false });
    log.warn("port taken", { port: 1, why: 'a "b" c' });
    expect(lines).toEqual(['2023-11-14T22:13:20.000Z warn  port taken port=1 why="a \\"b\\" c"']);
  });

  test.each([true, false])("json=%s: no value makes a second line or an escape sequence", (json) => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (message, value) => {
        const { log, lines } = loggerWith({ json });
        log.info(`${message}\n\u001b[2J\u009b\u2028\u202e\u061c`, { value: `${value}\r\u009b`, [value]: 1 });
        expect(lines).toHaveLength(1);
        expect(lines[0]).not.toMatch(/[\p{Cc}\u2028\u2029\u061c\u200e\u202e]/u);
      }),
    );
  });

  test("a level that is off costs neither a line nor a look at the fields", () => {
    const { log, lines } = loggerWith({ level: "warn" });
    log.info("no", new Proxy({}, { ownKeys: () => expect.unreachable("fields were read") }));
    log.error("yes");
    expect(lines).toHaveLength(1);
    expect([log.enabled("info"), log.enabled("warn")]).toEqual([false, true]);
  });

  test("a sink that throws is not the caller's problem", () => {
    const { log } = loggerWith({
      write: () => {
        throw new Error("EPIPE");
      },
    });
    expect(() => log.info("hello")).not.toThrow();
  });

  test("the level can be changed, for children made before too", () => {
    const { log, lines } = loggerWith({ level: "error" });
    const child = log.child({ a: 1 });
    log.setLevel("debug");
    child.debug("now");
    log.setLevel("error");
    child.warn("not any more");
    expect(lines).toHaveLength(1);
    expect([child.enabled("debug"), child.enabled("error")]).toEqual([false, true]);
  });

  test("a name that is taken twice once its secret is gone, or is __proto__, breaks no line", () => {
    const { log, lines } = loggerWith({ redact: () => ["first-secret", "second-secret"] });
    log.info("x", { "first-secret": 1, "second-secret": 2, ["__proto__"]: "p" });
    expect(JSON.parse(lines[0]!)).toMatchObject({ [DOTS]: 2, ["__proto___"]: "p" });
  });

  test("children add fields; withFields does so on any logger", () => {
    const { log, lines } = loggerWith();
    withFields(log.child({ a: 1 }), { b: 2 }).info("x", { c: 3 });
    expect(JSON.parse(lines[0] as string)).toMatchObject({ a: 1, b: 2, c: 3 });
    const plain = captureLog();
    withFields(plain.log, { b: 2 }).warn("y", { c: 3 });
    expect(plain.lines).toEqual([{ level: "warn", message: "y", b: 2, c: 3 }]);
  });
});

describe("the file", () => {
  const sink = (lines: string[], fails = false) => ({
    write(line: string): void {
      if (fails) throw new Error("it can't be written");
      lines.push(line);
    },
  });

  test("is JSON while the terminal is readable, and holds no secret either", () => {
    const inFile: string[] = [];
    const { log, lines } = loggerWith({ json: false, file: sink(inFile), redact: () => ["hunter2"] });
    log.child({ key: "hunter2" }).warn("hunter2 is wrong", { port: 1 });
    expect(JSON.parse(inFile[0]!)).toMatchObject({ level: "warn", key: DOTS, message: `${DOTS} is wrong`, port: 1 });
    expect(lines[0]).toContain(`warn  ${DOTS} is wrong`);
  });

  test("is written although standard error is gone; what is wrong with it is said there, in its format", () => {
    const inFile: string[] = [];
    const write = (): never => {
      throw new Error("EPIPE");
    };
    loggerWith({ write, file: sink(inFile) }).log.info("kept");
    expect(inFile).toHaveLength(1);
    const { log, lines } = loggerWith({ file: sink([], true) });
    log.info("said");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: "info", message: "said" },
      { level: "warn", message: "it can't be written" },
    ]);
  });

  test("can be changed and taken away, for children too", () => {
    const first: string[] = [];
    const second: string[] = [];
    const { log } = loggerWith({ file: sink(first) });
    const child = log.child({});
    child.info("1");
    log.setFile(sink(second));
    child.info("2");
    log.setFile(undefined);
    child.info("3");
    expect([first.length, second.length]).toEqual([1, 1]);
  });

  test("what was written is read back as it was, whatever is in it", () => {
    const value = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
      fc.boolean(),
    );
    const name = fc.string({ unit: "binary" }).filter((text) => !/^(?:time|level|message|__proto__)_?$/.test(text));
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.dictionary(name, value), (message, values) => {
        // JSON puts names that are numbers first.
        const fields = Object.entries(JSON.parse(JSON.stringify(values)) as typeof values);
        const entry = { time: "2023-11-14T22:13:20.000Z", level: "info" as const, message, fields };
        const line = jsonLine(entry);
        expect(parseLogLine(line)).toEqual(entry);
        expect(readableLine(entry)).not.toMatch(/[\p{Cc}\u2028\u2029\p{Bidi_Control}]/u);
      }),
    );
  });

  test.each(["", "x", "{", "null", "[1]", "7", '{"time":1,"level":"info","message":"x"}', '{"message":"no level"}'])(
    "%s is no line of the log",
    (text) => expect(parseLogLine(text)).toBeUndefined(),
  );
});

describe("secrets", () => {
  test.each([true, false])(
    "json=%s: gone from message, values and names, inside longer strings, of children too",
    (json) => {
      const { log, lines } = loggerWith({ json });
      const child = log.child({ bound: "x-hunter2-y" });
      log.setSecrets(["hunter2", "31337", " ", ""]);
      child.error("the key hunter2 is wrong", { url: "http://h/?k=hunter2&x", port: 31337, hunter2: "name" });
      expect(lines.join()).not.toMatch(/hunter2|31337/);
      expect(lines.join()).toContain(`the key ${DOTS} is wrong`);
    },
  );

  test("those known at start count from the first line", () => {
    const { log, lines } = loggerWith({ redact: () => ["early"] });
    log.info("an early line");
    expect(lines.join()).not.toContain("early");
  });

  test("a secret that contains another goes as a whole", () => {
    const { redact } = createRedactor(["abcd", "abcdef"]);
    expect(redact("abcdef abcd")).toBe(`${DOTS} ${DOTS}`);
  });

  test.each(["a", "ab ", " abc", "ü€"])(
    "%j is too short: with each letter of it taken out no line would say anything",
    (secret) => {
      const { log, lines } = loggerWith({ redact: () => [secret, "hunter2"] });
      log.info("abc about ü€ hunter2", { cab: "ab a" });
      expect(JSON.parse(lines[0]!)).toMatchObject({ message: `abc about ü€ ${DOTS}`, cab: "ab a" });
      expect(log.partialSecret("a")).toBe(0);
    },
  );

  test("quoted in JSON or a URL, it is still found", () => {
    const secret = 'p"ä\\ s+s&w';
    const { redact } = createRedactor([secret]);
    for (const form of [JSON.stringify({ secret }), encodeURIComponent(secret), `${new URLSearchParams({ secret })}`]) {
      expect(redact(form)).toContain(DOTS);
    }
    expect(redact(encodeURIComponent(secret))).toBe(DOTS);
  });

  test("pairing tokens and bearer credentials go without being configured", () => {
    const { redact } = createRedactor();
    expect(redact(`got ${TOKEN}.`)).toBe(`got ${DOTS}.`);
    expect(redact(`got ${TOKEN.toUpperCase()}`)).not.toContain("ABCDEF");
    expect(redact("authorization: bEARer abc.def-1==, next")).toBe(`authorization: bEARer ${DOTS}, next`);
    expect(redact("Bearer token-of-mine")).toBe(`Bearer ${DOTS}`);
    expect(redact("A valid bearer token is required.")).toBe("A valid bearer token is required.");
  });

  test("whatever the secret and whatever surrounds it", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4, unit: "grapheme" }), fc.string(), fc.string(), (secret, before, after) => {
        fc.pre(secret.trim().length >= 4 && !DOTS.includes(secret));
        fc.pre(!before.includes(secret) && !after.includes(secret));
        const { redact } = createRedactor([secret]);
        expect(redact(before + secret + after)).not.toContain(secret);
      }),
    );
  });
});
