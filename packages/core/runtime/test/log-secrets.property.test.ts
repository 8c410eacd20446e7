// Whatever the secret is, and wherever in a line it comes: message, a field's name or value, an id of the scope, what the
// logger was made with; it is in neither of the two places that the line goes to, in no spelling that a reader would know.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { type RuntimeLogger, createLogger, inScope } from "../src/index.ts";
import { DOTS, loadConfig } from "@svc/config";
import { makeFixture } from "@svc/config/fixtures";
import { FakeClock } from "./fake-clock.ts";

/** Not what every line has anyway: its time, its level, the names of JSON, what stands in for a secret. */
const secret = fc
  .oneof(fc.string({ minLength: 4, maxLength: 30, unit: "grapheme" }), fc.string({ minLength: 4, unit: "binary" }))
  .filter((text) => text.trim().length >= 4)
  .filter((text) => !COMMON.some((each) => each.includes(text) || each.includes(JSON.stringify(text).slice(1, -1))));
const COMMON = [
  `{"time":"2023-11-14T22:13:20.000Z","level":"warn","message":"","request":"","turn":"","trace":""}`,
  DOTS,
];

const around = fc.string({ maxLength: 8 });
const trace = "0af7651916cd43dd8448eb211c80319c";

test("a secret in any part of a line is not in the line", () => {
  fc.assert(
    fc.property(
      fc.array(secret, { minLength: 1, maxLength: 4 }),
      fc.array(around, { minLength: 8, maxLength: 8 }),
      fc.boolean(),
      fc.boolean(),
      fc.constantFrom("debug", "info", "warn", "error"),
      (secrets, words, json, waits, level) => {
        const said: string[] = [];
        const filed: string[] = [];
        const due: (() => void)[] = [];
        const log = createLogger({
          level: "debug",
          json,
          clock: new FakeClock(),
          write: (lines) => said.push(lines),
          file: { write: (lines) => filed.push(lines) },
          ...(waits && { later: (flush: () => void) => due.push(flush) }),
        });
        log.setSecrets(secrets);
        const [a, b, c, d, e, f, g, h] = words as [string, string, string, string, string, string, string, string];
        const [one] = secrets as [string];
        const last = secrets.at(-1)!;
        const scope = { request: `${a}${one}`, turn: last, traceparent: `00-${trace}-b7ad6b7169203331-01` };
        inScope(scope, () =>
          log.child({ [`${b}${last}`]: `${one}${c}` })[level](`${d}${one}${e}${last}`, {
            plain: `${f}${last}${g}`,
            [`${one}${h}`]: 1,
            url: `http://h/?k=${encodeURIComponent(one.toWellFormed())}`,
            quoted: JSON.stringify({ last }),
          }),
        );
        for (const flush of due) flush();
        expect(said.length + filed.length).toBe(2);
        for (const text of [...said, ...filed]) {
          for (const each of secrets) {
            expect(text).not.toContain(each);
            expect(text).not.toContain(JSON.stringify(each).slice(1, -1));
          }
        }
      },
    ),
    { numRuns: cases(300) },
  );
});

/** What a line says, with `text` in one place of it. */
const PLACES: Readonly<Record<string, (log: RuntimeLogger, text: string) => void>> = {
  "the message": (log, text) => log.info(text),
  "a field's name": (log, text) => log.info("x", { [text]: 1 }),
  "a field's value": (log, text) => log.info("x", { a: text }),
  "what the logger was made with": (log, text) => log.child({ a: text }).info("x"),
  "a name it was made with": (log, text) => log.child({ [text]: true }).info("x"),
  "the request": (log, text) => inScope({ request: text }, () => log.info("x")),
  "the turn": (log, text) => inScope({ turn: text }, () => log.info("x")),
};

test.each(Object.entries(PLACES))("it is enough that it is in %s alone", (_, say) => {
  fc.assert(
    fc.property(secret, around, around, (one, before, after) => {
      const lines: string[] = [];
      const log = createLogger({
        level: "info",
        json: true,
        clock: new FakeClock(),
        write: (line) => lines.push(line),
      });
      log.setSecrets([one]);
      say(log, `${before}${one}${after}`);
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toContain(one);
      expect(lines[0]).not.toContain(JSON.stringify(one).slice(1, -1));
    }),
  );
});

test("a number or a flag that is a secret goes too", () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", json: true, clock: new FakeClock(), write: (line) => lines.push(line) });
  log.setSecrets(["31337", "true"]);
  log.warn("x", { port: 31337, ok: true, fine: 31338 });
  expect(JSON.parse(lines[0]!)).toMatchObject({ port: DOTS, ok: DOTS, fine: 31338 });
});

test("each header for the collector is a secret, as it is written, as it is sent, and without its scheme", async () => {
  const fixture = makeFixture();
  onTestFinished(fixture.remove);
  fixture.write(
    '[observability]\notel_headers = "authorization=Bearer%20t0ken%2Fof-mine,x-api-key=k3y-of-mine,tenant=acme"\n',
  );
  const config = await loadConfig({ home: fixture.home, env: {}, features: [], catalogue: [] });
  expect(config.secrets()).toEqual(
    expect.arrayContaining(["Bearer%20t0ken%2Fof-mine", "Bearer t0ken/of-mine", "t0ken/of-mine", "k3y-of-mine"]),
  );
  expect(config.secrets()).not.toContain("acme");
});
