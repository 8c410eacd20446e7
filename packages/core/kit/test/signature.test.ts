// Who may speak for a platform: signatures that are right in nearly every way, and secrets that are none.
import { createHmac } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { equalSecrets, hmacSha256Hex, verifyHmacSha256 } from "../src/index.ts";

const secret = fc.string({ minLength: 1 }).filter((text) => text.trim() !== "");
const parts = fc.array(fc.oneof(fc.string(), fc.uint8Array()), { maxLength: 3 });
const optional = { prefix: "optional" } as const;

describe("a signature", () => {
  test("is right with its secret, in any case, with and without its prefix; and is HMAC-SHA-256", () => {
    fc.assert(
      fc.property(secret, parts, (key, signed) => {
        const hex = hmacSha256Hex(key, signed);
        const reference = createHmac("sha256", key).update(
          Buffer.concat(signed.map((one) => Buffer.from(one as string))),
        );
        expect(hex).toBe(reference.digest("hex"));
        for (const header of [hex, hex.toUpperCase(), `sha256=${hex}`, `SHA256=${hex}`]) {
          expect(verifyHmacSha256({ secret: key, parts: signed, header, ...optional })).toBe(true);
          const required = verifyHmacSha256({ secret: key, parts: signed, header, prefix: "required" });
          expect(required).toBe(header.startsWith("sha256="));
        }
      }),
    );
  });

  test.each([
    ["a secret longer than a block", "k".repeat(200), ["body"]],
    ["a secret of a block", "k".repeat(64), ["body"]],
    ["text beyond ASCII and half a character", "ключ", ["сообщение \ud83d", ".", "😀"]],
    ["a body of a megabyte", "secret", ["1700000000.", Buffer.alloc(1_048_576, "x")]],
    ["a body that just fits, and a byte more", "secret", [Buffer.alloc(16_384, "y"), "z"]],
  ] as const)("is HMAC-SHA-256 of %s", (_, key, signed) => {
    const reference = createHmac("sha256", key);
    for (const part of signed) reference.update(part);
    expect(hmacSha256Hex(key, signed)).toBe(reference.digest("hex"));
  });

  test("is right with each of many secrets, whatever was signed before", () => {
    const hexOf = (n: number): string => hmacSha256Hex(`secret ${n}`, [`body ${n}`]);
    const first = Array.from({ length: 200 }, (_, n) => hexOf(n));
    expect(Array.from({ length: 200 }, (_, n) => hexOf(n))).toEqual(first);
    expect(first).toEqual(
      Array.from({ length: 200 }, (_, n) => createHmac("sha256", `secret ${n}`).update(`body ${n}`).digest("hex")),
    );
  });

  test("with any character changed, added or missing is wrong", () => {
    fc.assert(
      fc.property(secret, parts, fc.nat(63), fc.string({ minLength: 1, maxLength: 3 }), (key, signed, at, piece) => {
        const hex = hmacSha256Hex(key, signed);
        for (const header of [
          hex.slice(0, at) + piece + hex.slice(at + 1),
          hex.slice(0, at) + hex.slice(at + 1),
          hex + piece,
          piece + hex,
          `sha256=${piece}${hex}`,
          `sha256=sha256=${hex}`,
        ]) {
          const isThe = header.toLowerCase() === hex;
          expect(verifyHmacSha256({ secret: key, parts: signed, header, ...optional })).toBe(isThe);
        }
      }),
    );
  });

  test("of other bytes, or with another secret, is wrong", () => {
    fc.assert(
      fc.property(secret, secret, fc.uint8Array(), fc.uint8Array(), (key, otherKey, body, otherBody) => {
        const header = hmacSha256Hex(key, [body]);
        const isSameBody = Buffer.from(body).equals(otherBody);
        expect(verifyHmacSha256({ secret: key, parts: [otherBody], header, ...optional })).toBe(isSameBody);
        // HMAC pads a short key with zeros: only such a key is another spelling of the same one.
        fc.pre(otherKey.replace(/\0+$/, "") !== key.replace(/\0+$/, ""));
        expect(verifyHmacSha256({ secret: otherKey, parts: [body], header, ...optional })).toBe(false);
      }),
    );
  });

  test.each(["", " ", "\t\n"])("with a blank secret (%j) is no signature, whoever made it", (blank) => {
    const header = createHmac("sha256", blank).update("body").digest("hex");
    expect(verifyHmacSha256({ secret: blank, parts: ["body"], header, ...optional })).toBe(false);
    expect(() => hmacSha256Hex(blank, ["body"])).toThrow(expect.objectContaining({ code: "INTERNAL" }));
  });

  test.each([undefined, "", "sha256=", " ", "nonsense", "0x".padEnd(64, "0")])("%j is none", (header) => {
    expect(verifyHmacSha256({ secret: "s", parts: [""], header, ...optional })).toBe(false);
  });
});

describe("secrets", () => {
  test("are equal when they are the same and not blank", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(equalSecrets(one, other)).toBe(one === other && one.trim() !== "");
        expect(equalSecrets(one, one)).toBe(one.trim() !== "");
      }),
    );
  });

  test("that are not there are equal to nothing", () => {
    expect([equalSecrets(undefined, undefined), equalSecrets("a", undefined), equalSecrets(undefined, "a")]).toEqual([
      false,
      false,
      false,
    ]);
  });
});
