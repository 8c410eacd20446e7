// A secret told in two pieces is told: whoever sends a text bit by bit must know how much of its end to hold back.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SecretPrint, createRedactor } from "../src/index.ts";

const secret = fc.string({ minLength: 4, maxLength: 40 }).filter((text) => text.trim().length >= 4);

/** Sends `text` in pieces as a stream would: redacted, with what may be the beginning of a secret held back. */
function streamed(pieces: readonly string[], { redact, partial }: ReturnType<typeof createRedactor>): string {
  let sent = "";
  let held = "";
  for (const piece of pieces) {
    const text = redact(held + piece);
    const keep = partial(text);
    sent += text.slice(0, text.length - keep);
    held = text.slice(text.length - keep);
  }
  return sent + redact(held);
}

test("no secret comes through, wherever the text is cut", () => {
  fc.assert(
    fc.property(
      fc.array(secret, { minLength: 1, maxLength: 3 }),
      fc.array(fc.string({ maxLength: 6 })),
      (secrets, words) => {
        const redactor = createRedactor(secrets);
        const whole = words.join(secrets[0]) + secrets.join("");
        const told = streamed([...whole], redactor);
        for (const each of secrets) expect(told).not.toContain(each);
      },
    ),
  );
});

describe("a secret whose text is not kept", () => {
  const word = fc.stringMatching(/^[a-c ]{0,6}$/);

  test("comes through nowhere, wherever the text is cut, beside others that share characters with it", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-c]{4,9}$/),
        fc.array(word),
        fc.stringMatching(/^[a-c]{4,9}$/),
        (hidden, words, plain) => {
          const redactor = createRedactor([new SecretPrint(hidden), plain]);
          const whole = words.join(hidden) + hidden + plain;
          expect(redactor.redact(whole)).not.toContain(hidden);
          expect(streamed([...whole], redactor)).not.toContain(hidden);
        },
      ),
    );
  });

  test("is found where the text itself would be, in all its forms", () => {
    fc.assert(
      fc.property(secret, fc.array(fc.string({ maxLength: 6 })), (hidden, words) => {
        for (const form of [hidden, JSON.stringify(hidden), encodeURIComponent(hidden.toWellFormed())]) {
          const text = words.join(form) + form;
          expect(createRedactor([new SecretPrint(hidden)]).redact(text)).toBe(createRedactor([hidden]).redact(text));
        }
      }),
    );
  });

  test("leaves a text without it as it is, and holds nothing back for good", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-m ]{0,9}$/)), (pieces) => {
        const redactor = createRedactor([new SecretPrint("zyxw-secret")]);
        expect(redactor.redact(pieces.join(""))).toBe(pieces.join(""));
        expect(streamed(pieces, redactor)).toBe(pieces.join(""));
      }),
    );
  });

  test.each([
    ["a word that may become it", "say zyx", 3],
    ["a longer word", "say abcdefghijklmno", 10],
    ["nothing after a blank", "zyxw-secre ", 0],
  ])("of %s so much of the end is held back", (_, text, held) => {
    expect(createRedactor([new SecretPrint("zyxw-secret")]).partial(text)).toBe(held);
  });

  test("of a megabyte is found in less than a second's work: each character is read once", () => {
    const text = "ab".repeat(500_000);
    expect(createRedactor([new SecretPrint("abababababababababac")]).redact(text)).toBe(text);
  });
});

test("nothing is held back for good, and a text without secrets comes through as it is", () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-m ]{0,9}$/)), (pieces) => {
      const redactor = createRedactor(["zyxw-secret"]);
      expect(streamed(pieces, redactor)).toBe(pieces.join(""));
    }),
  );
});

test.each([
  ["a pairing token", "here: svc_0123", 8],
  ["its first letter", "class", 1],
  ["a configured secret", "key sk-li", 5],
  ["the same in a URL", "?k=sk-live%2", 9],
  ["nothing of the kind", "hello", 0],
])("%s: so much of the end is held back", (_, text, held) => {
  expect(createRedactor(["sk-live/one"]).partial(text)).toBe(held);
});
