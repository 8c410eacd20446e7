// A path with two spellings gets past a proxy that guards one of them: `/%61pi/status` was `/api/status` here.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isCanonicalPath } from "../src/request-path.ts";

describe("a path", () => {
  test.each([
    "/",
    "/api/status",
    "/api/sessions/a%2Fb",
    "/api/sessions/..%2F..%5Cconfig",
    "/api/sessions/a%20b",
    "/api/sessions/%C3%A9",
    "/api/sessions/%252e",
    "/a:b@c;d=e,f+g!$&'()*~",
    "/...",
    "/.well-known",
    "/a..",
    "/trailing/",
    "/a//b",
  ])("%s has one spelling", (path) => expect(isCanonicalPath(path)).toBe(true));

  test.each([
    "",
    "api",
    "http://localhost/api",
    "*",
    "/%61pi",
    "/%41",
    "/%30",
    "/%2D",
    "/%2e%2e/api",
    "/%5f",
    "/%7E",
    "/a%00",
    "/%",
    "/%4",
    "/%zz",
    "/%ff",
    "/%C3%28",
    "/%c0%af",
    "/.",
    "/..",
    "/./api",
    "/x/../api",
    "/x/..",
    "/api\\status",
    "/api#x",
    "/api?x",
    "/a b",
    "/a\tb",
    "/\u00e9",
  ])("%j has none, or another one", (path) => expect(isCanonicalPath(path)).toBe(false));

  test("no two of one meaning are both canonical", () => {
    const piece = fc.constantFrom(
      "a",
      "Z",
      "9",
      "-",
      "~",
      "/",
      ".",
      "%2F",
      "%61",
      "%2e",
      "%C3%A9",
      "%5C",
      ";",
      "\\",
      "%",
    );
    const path = fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join("")}`);
    // As the reader does that undoes most: escapes of letters, of dots, and dots themselves.
    const tidy = (text: string): string =>
      new URL(`http://host${text.replaceAll(/%(?:61|2e)/g, (escape) => decodeURIComponent(escape))}`).pathname;
    fc.assert(
      fc.property(path, (one) => {
        fc.pre(isCanonicalPath(one));
        expect(tidy(one)).toBe(one);
      }),
      { numRuns: cases(2_000) },
    );
  });
});
