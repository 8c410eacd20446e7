// Lines of the log as other programs may have written them: reading one does not throw.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLogLine, readableLine } from "../src/index.ts";

describe("a line of the log", () => {
  const field = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }));

  test("of another program is an entry or none, and what is shown of it is one line that drives no terminal", () => {
    const line = fc.oneof(
      fc.string({ unit: "binary" }).map((text) => `{${text}`),
      fc
        .dictionary(fc.constantFrom("time", "level", "message", "a", "__proto__"), field)
        .map((values) => JSON.stringify(values)),
      fc
        .tuple(
          fc.constantFrom("debug", "info", "warn", "error"),
          fc.string({ unit: "binary" }),
          fc.string({ unit: "binary" }),
          field,
        )
        .map(([level, time, message, a]) => JSON.stringify({ time, level, message, a })),
    );
    fc.assert(
      fc.property(line, (text) => {
        const entry = parseLogLine(text);
        const shown = entry ? readableLine({ ...entry, time: "2026-01-01T00:00:00.000Z" }) : "";
        expect(shown).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      }),
      { numRuns: cases(1_000) },
    );
  });
});
