// Whoever has the id of an answer, of a turn or of a trace finds its lines among a million others, follows them over
// rotation, and is not misled by what strangers put into the log.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LogPair, jsonLine, openLogFile, parseLogLine } from "@svc/runtime";
import { systemClock } from "@svc/kit/system-clock";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fieldOf, type LogFilters, matcher, traceIdOf } from "../src/logs/filters.ts";
import { readLog } from "../src/logs/read-log.ts";

const NONE: LogFilters = { level: undefined, sinceMs: undefined, fields: [], channel: undefined, grep: undefined };

const line = (message: string, fields: readonly LogPair[] = [], level: "info" | "warn" = "info"): string =>
  jsonLine({ time: "2026-11-22T10:00:00.000Z", level, message, fields });

const LINES = [
  line("a turn ended", [
    ["request", "3f9c2a1b-1"],
    ["turn", "t-1"],
    ["ok", true],
    ["duration_ms", 12],
  ]),
  line("a message came in", [
    ["turn", "t-2"],
    ["channel", "provider_a"],
  ]),
  line(
    "A loop failed",
    [
      ["feature", "channel-provider-a"],
      ["code", "REMOTE_TIMEOUT"],
    ],
    "warn",
  ),
  line("a turn ended", [
    ["request", "3f9c2a1b-11"],
    ["turn", "t-11"],
    ["trace", "0af7651916cd43dd8448eb211c80319c"],
  ]),
  "half a line with TIMEOUT",
];

const shown = (filters: Partial<LogFilters>): number[] => {
  const matches = matcher({ ...NONE, ...filters });
  return LINES.flatMap((text, index) => (matches({ text, entry: parseLogLine(text) }) ? [index] : []));
};

describe("filters", () => {
  test.each<[string, Partial<LogFilters>, number[]]>([
    ["nothing", {}, [0, 1, 2, 3, 4]],
    ["an id, and none that begins like it", { fields: [["request", "3f9c2a1b-1"]] }, [0]],
    ["a turn", { fields: [["turn", "t-2"]] }, [1]],
    ["a field that is no text", { fields: [["ok", "true"]] }, [0]],
    ["a number", { fields: [["duration_ms", "12"]] }, [0]],
    [
      "two fields, which must both hold",
      {
        fields: [
          ["ok", "true"],
          ["turn", "t-2"],
        ],
      },
      [],
    ],
    ["a channel and its feature", { channel: "provider_a" }, [1, 2]],
    ["a text in capitals or not, also in half a line", { grep: "timeout" }, [2, 4]],
    ["a text of a value, not of a field's name", { grep: "duration" }, []],
    ["a text of a message in capitals", { grep: "a LOOP" }, [2]],
    ["a text and a level", { grep: "TIMEOUT", level: "warn" }, [2]],
    ["a text of two words", { grep: "Turn Ended" }, [0, 3]],
    ["what no line has", { fields: [["nothing", ""]] }, []],
  ])("%s", (_, filters, expected) => expect(shown(filters)).toEqual(expected));

  test("--field takes what stands before the first =; what has none is no field", () => {
    expect(fieldOf("a=b=c")).toEqual(["a", "b=c"]);
    expect(fieldOf("a=")).toEqual(["a", ""]);
    for (const text of ["", "a", "=b"]) expect(() => fieldOf(text)).toThrow("name=value");
  });

  test("--trace takes an id or a whole traceparent", () => {
    const id = "0af7651916cd43dd8448eb211c80319c";
    for (const text of [id, id.toUpperCase(), `00-${id}-b7ad6b7169203331-01`, ` ${id} `])
      expect(traceIdOf(text)).toBe(id);
  });

  test("nothing a line holds makes it another's: only what is asked for is shown", () => {
    const value = fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.boolean());
    const name = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("turn", "__proto__", "constructor", "toString"),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), fc.string(), fc.string(), (pairs, wantedName, wantedValue) => {
        const text = line("x", pairs);
        const entry = parseLogLine(text)!;
        const matches = matcher({ ...NONE, fields: [[wantedName, wantedValue]] })({ text, entry });
        expect(matches).toBe(entry.fields.some(([each, has]) => each === wantedName && String(has) === wantedValue));
      }),
    );
  });
});

describe("reading with a filter", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "svc-filters-"));
    path = join(folder, "svc.log");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function read(filters: Partial<LogFilters>, count?: number, steps: (() => void)[] = []): Promise<string[]> {
    const wanted = { count, sinceMs: undefined, matches: matcher({ ...NONE, ...filters }) };
    const pause = async (): Promise<boolean> => {
      const step = steps.shift();
      step?.();
      return step !== undefined;
    };
    const found: string[] = [];
    for await (const { text } of readLog(path, wanted, steps.length > 0 ? pause : undefined)) found.push(text);
    return found;
  }

  test("the last lines that match are found however far back, over all files", async () => {
    const log = openLogFile({ logsDir: folder }, { maxBytes: 5_000, maxFiles: 100 }, systemClock);
    for (let n = 0; n < 3000; n += 1) log.write(line(`line ${n}`, [["turn", `t-${n % 1000}`]]));
    const found = await read({ fields: [["turn", "t-7"]] }, 2);
    expect(found.map((text) => parseLogLine(text)!.message)).toEqual(["line 1007", "line 2007"]);
  });

  test("following goes on over rotation, and shows no line of another", async () => {
    const log = openLogFile({ logsDir: folder }, { maxBytes: 300, maxFiles: 100 }, systemClock);
    let n = 0;
    const write = (): void => {
      for (let each = 0; each < 7; each += 1)
        log.write(line(`line ${(n += 1)}`, [["turn", n % 3 === 0 ? "mine" : "theirs"]]));
    };
    write();
    const found = await read({ fields: [["turn", "mine"]] }, 1, [write, write, write, write]);
    const expected = Array.from({ length: 35 }, (_, index) => index + 1).filter((each) => each % 3 === 0 && each >= 6);
    expect(found.map((text) => parseLogLine(text)!.message)).toEqual(expected.map((each) => `line ${each}`));
  });

  test("a line of 10 MB, bytes that are no text, nesting without end and half a line hide nothing and break nothing", async () => {
    const wanted = line("found", [["turn", "mine"]]);
    const nested = `{"time":"2026-11-22T10:00:00.000Z","level":"info","message":"deep","turn":${"[".repeat(400_000)}${"]".repeat(400_000)}}`;
    const hostile: (string | Buffer)[] = [
      `{"turn":"mine","time":"${"x".repeat(10_000_000)}"}`,
      Buffer.from(Array.from({ length: 4096 }, (_, index) => index % 256)),
      nested,
      '{"time":1,"level":"info","message":"x","turn":"mine"}',
      '{"time":"2026-11-22T10:00:00.000Z","level":"info","message":{},"turn":"mine"}',
      "null",
      '["mine"]',
    ];
    writeFileSync(path, "");
    for (const each of hostile) {
      appendFileSync(path, each);
      appendFileSync(path, `\n${wanted}\n`);
    }
    appendFileSync(path, '{"time":"2026-11-22T10:00:00.000Z","level":"info","message":"half","turn":"mi');
    expect(await read({ fields: [["turn", "mine"]] })).toEqual(hostile.map(() => wanted));
    expect(await read({ grep: "FOUND" }, 3)).toEqual([wanted, wanted, wanted]);
  });
});
