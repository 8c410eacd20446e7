// Schema pieces: a secret whose mark is lost would be shown; a URL with a password in it would be logged.
import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { httpUrl, integer, type Marks, secret } from "../src/index.ts";

type Piece = { readonly wrapped?: Piece; readonly pipe?: readonly object[]; readonly metadata?: Marks };

/** Marks as `@svc/config` finds them: through whatever wraps a schema, and through pipes in pipes. */
function marksOf(schema: unknown): Marks {
  const { wrapped, pipe = [], metadata } = schema as Piece;
  const below = [...(wrapped ? [wrapped] : []), ...pipe.filter((piece) => piece !== schema)];
  return Object.assign({}, ...below.map(marksOf), metadata) as Marks;
}

describe("secret", () => {
  test.each([
    ["plain", secret()],
    ["described", v.pipe(secret(), v.description("A token."))],
    ["checked", v.pipe(secret(), v.minLength(8))],
    ["optional", v.optional(secret())],
    ["optional and described", v.optional(v.pipe(secret(), v.description("A token.")))],
    ["described around optional", v.pipe(v.optional(secret()), v.description("A token."))],
    ["nullish with a default", v.nullish(v.pipe(secret(), v.trim()), "")],
    ["three deep", v.optional(v.pipe(v.nullable(v.pipe(secret(), v.trim())), v.description("A token.")))],
  ])("its mark can be read: %s", (_, schema) => {
    expect(marksOf(schema)).toEqual({ secret: true });
  });

  test("valibot itself reads the marks through pipes", () => {
    const schema = v.pipe(secret({ env: "SVC_TOKEN" }), v.description("A token."), v.minLength(1));
    expect(v.getMetadata(schema)).toEqual({ secret: true, env: "SVC_TOKEN", envMode: "override" });
    expect(v.getDescription(schema)).toBe("A token.");
  });

  test("a variable overrides the file unless it is said to be a fallback; without one there is no mode", () => {
    expect(marksOf(secret({ env: "A" }))).toEqual({ secret: true, env: "A", envMode: "override" });
    expect(marksOf(secret({ env: "A", envMode: "fallback" }))).toEqual({ secret: true, env: "A", envMode: "fallback" });
    expect(marksOf(secret({ envMode: "fallback" }))).toEqual({ secret: true });
  });

  test("lets any string through as it is, and nothing else", () => {
    expect(v.parse(secret(), "  keep blanks ")).toBe("  keep blanks ");
    expect(v.safeParse(secret(), 12_345_678).success).toBe(false);
  });
});

describe("httpUrl", () => {
  test.each([
    "http://127.0.0.1:8080/v1",
    "https://example.org",
    "HTTPS://Example.org/path?q=1#f",
    "http://[::1]:11434/v1",
    "https://example.org/a@b",
  ])("takes %j as it is", (url) => {
    expect(v.parse(httpUrl(), url)).toBe(url);
  });

  test.each([
    "",
    "example.org",
    "//example.org",
    "/path",
    "http://",
    "http:// x",
    "ftp://example.org",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/plain,x",
    "ws://example.org",
    "unix:/run/x.sock",
    "https://user@example.org",
    "https://user:pass@example.org",
    "https://:pass@example.org",
    "https://us%65r:p%40ss@example.org",
    "https:user:pass@example.org",
    "https:\\\\user:pass@example.org",
    "\thttps://user:pass@example.org",
    "htt\nps://user:pass@example.org",
    "https://agent.example\n.org",
    "https://agent.example/\u001b[2J",
    "https://agent.example/a b",
    7,
    null,
  ])("refuses %j", (url) => {
    expect(v.safeParse(httpUrl(), url).success).toBe(false);
  });

  test("refuses credentials wherever they are, and never quotes what it refuses", () => {
    const word = fc.string({ unit: fc.constantFrom(..."abcXYZ019-._~%21é "), minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(fc.constantFrom("http", "https"), word, word, (scheme, user, password) => {
        const url = `${scheme}://${encodeURIComponent(user)}:${encodeURIComponent(`pw-${password}`)}@example.org/`;
        const result = v.safeParse(httpUrl(), url);
        expect(result.success).toBe(false);
        expect(result.issues?.map(({ message }) => message).join()).not.toContain("pw-");
      }),
    );
  });
});

describe("integer", () => {
  test("takes the whole numbers from the least to the most, both included, and no others", () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(1000), fc.integer(), (min, span, value) => {
        const inside = value >= min && value <= min + span;
        expect(v.safeParse(integer(min, min + span), value).success).toBe(inside);
        expect(v.safeParse(integer(min, min + span), min).success).toBe(true);
        expect(v.safeParse(integer(min, min + span), min + span).success).toBe(true);
      }),
    );
  });

  test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, "1", 1n, true, null, Number.MAX_SAFE_INTEGER + 1])(
    "refuses %s",
    (value) => {
      expect(v.safeParse(integer(0), value).success).toBe(false);
    },
  );
});
