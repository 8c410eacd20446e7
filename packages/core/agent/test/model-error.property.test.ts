// What a provider answers when it fails is anybody's text: it never gets into our sentences, it never makes an error of ours
// throw, no part of it that is shown has the key, and a wait that it asks for is a number that can be waited.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SvcError } from "@svc/contract";
import { isRetryable, modelError, retryAfterMs, wasAnswered } from "../src/models/model-error.ts";

const NOW = Date.UTC(2026, 0, 1);
const PLANTED = "planted-words-of-the-provider";
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constant(PLANTED),
  fc.constantFrom("invalid_api_key", "ECONNRESET", "toString", "__proto__"),
);
const number = fc.oneof(fc.integer(), fc.constantFrom(200, 299, 301, 401, 429, 500, 599, 600, Number.NaN, 1e308));
const fields = fc.record(
  {
    statusCode: fc.oneof(number, text),
    isRetryable: fc.oneof(fc.boolean(), text),
    responseHeaders: fc.dictionary(fc.constantFrom("retry-after", "retry-after-ms", "x"), text),
    responseBody: fc.oneof(
      text,
      fc.json().map((json) => `{"error":{"type":"${PLANTED}","code":"invalid_api_key","more":${json}}}`),
    ),
    data: fc.jsonValue(),
    code: fc.oneof(number, text),
    message: text,
    name: text,
  },
  { requiredKeys: [] },
);
const failure = fc.oneof(
  fields,
  fields.map((own) => Object.assign(new Error(PLANTED), own)),
  fields.map((own) => Object.assign(new Error("fetch failed", { cause: Object.assign(new Error(PLANTED), own) }), {})),
  fc.jsonValue(),
  fc.constantFrom(undefined, null, PLANTED, 7),
);

test("whatever a provider throws is an error of ours that repeats none of it", () => {
  fc.assert(
    fc.property(failure, (thrown) => {
      const error = modelError(thrown, { askedMs: 5 });
      expect([error instanceof SvcError, error.code.startsWith("MODEL_")]).toEqual([true, true]);
      expect(`${error.message} ${error.hint ?? ""} ${String(error.cause ?? "")}`).not.toContain(PLANTED);
      expect([typeof isRetryable(thrown), typeof wasAnswered(thrown)]).toEqual(["boolean", "boolean"]);
    }),
    { numRuns: cases(1_000) },
  );
});

const KEY = "sk-proj-Ab3dEf9hIj2lMn5pQr8t-XyZ_0123456789";
const about = {
  agent: "default",
  config: { provider: "openai" as const, name: "m", api_key: KEY },
  baseUrl: undefined,
};
const redact = (text: string): string => text;

/** The key as servers echo it: whole, in part, masked, encoded, split by what nobody sees. */
const echo = fc.oneof(
  fc.constantFrom(
    KEY,
    KEY.toUpperCase(),
    encodeURIComponent(KEY),
    btoa(KEY),
    `Bearer ${KEY}`,
    [...KEY].join("\u200b"),
    [...KEY].join(" "),
    [...KEY].join("-"),
    [...KEY].toReversed().join(""),
    `${KEY.slice(0, 7)}****************${KEY.slice(-4)}`,
    KEY.replace(/./gu, (char) => String.fromCodePoint(char.codePointAt(0)! + (/[!-~]/.test(char) ? 0xfee0 : 0))),
  ),
  fc
    .tuple(fc.nat(KEY.length - 6), fc.integer({ min: 6, max: KEY.length }))
    .map(([from, n]) => KEY.slice(from, from + n)),
);

test("the provider's words are quoted in one short line, never with eight characters of the key in a row", () => {
  const plain = (words: string): string =>
    words
      .normalize("NFKC")
      .replace(/[^\p{L}\p{N}]/gu, "")
      .toLowerCase();
  const secret = plain(KEY);
  fc.assert(
    fc.property(fc.array(fc.oneof(echo, text), { maxLength: 6 }), (parts) => {
      const responseBody = JSON.stringify({ error: { message: `Incorrect API key: ${parts.join(" ")}` } });
      const { said = "" } = modelError({ statusCode: 401, responseBody }, { about: { ...about, redact } });
      expect(said.length).toBeLessThanOrEqual(300);
      expect(said).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      for (let at = 0; at + 8 <= secret.length; at += 1) expect(plain(said)).not.toContain(secret.slice(at, at + 8));
    }),
    { numRuns: cases(1_000) },
  );
});

test("a wait is none, or a finite number of milliseconds that is not negative", () => {
  const header = fc.oneof(
    text,
    fc.integer().map(String),
    fc.double().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  );
  fc.assert(
    fc.property(header, fc.option(header, { nil: undefined }), (after, afterMs) => {
      const responseHeaders = { "retry-after": after, ...(afterMs !== undefined && { "retry-after-ms": afterMs }) };
      const wait = retryAfterMs({ responseHeaders }, NOW);
      expect(wait === undefined || (Number.isFinite(wait) && wait >= 0)).toBe(true);
    }),
    { numRuns: cases(1_000) },
  );
});
