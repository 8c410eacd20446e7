/** Whole requests whose method or target is not the endpoint's own, or only looks like it. */
import * as fc from "fast-check";
import type { Attack } from "../attack.ts";
import { bytesOf, EMPTY, whole } from "./request.ts";
import type { Subject } from "./subject.ts";

export function targetAttacks(subject: Subject): fc.Arbitrary<Attack> {
  const sent = (kind: string, target: string, more: Partial<Attack> = {}): Attack =>
    whole(kind, bytesOf({ ...subject, target }), [subject.mark], more);
  return fc.oneof(
    { weight: 4, arbitrary: methods(subject) },
    { weight: 4, arbitrary: tricks(subject).map((target) => sent("path tricks", target, { elsewhere: true })) },
    { weight: 2, arbitrary: queries(subject).map((target) => sent("query", target)) },
    { weight: 2, arbitrary: forms(subject).map((target) => sent("target forms", target)) },
    { weight: 1, arbitrary: lengths(subject).map((target) => sent("long target", target)) },
    { weight: 1, arbitrary: noise(subject.mark).map((target) => sent("noise", target)) },
  );
}

const KNOWN = "GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND MKCOL LOCK REPORT M-SEARCH PURGE QUERY LINK".split(
  " ",
);
const UNKNOWN = [
  "FOO",
  "get",
  "Post",
  "GET,POST",
  "PRI",
  "X".repeat(300),
  "\0",
  "G\u00cbT",
  "__proto__",
  "constructor",
  "*",
];

const methods = (subject: Subject): fc.Arbitrary<Attack> =>
  fc.constantFrom(...KNOWN, ...UNKNOWN, subject.mark).map((method) =>
    whole("method", bytesOf({ ...subject, method, ...(method === "HEAD" && { body: EMPTY }) }), [subject.mark], {
      head: method === "HEAD",
    }),
  );

/** None of them is the endpoint's path; a reader that tidies paths up would make it so, past the rules of a proxy. */
const tricks = ({ target, mark }: Subject): fc.Arbitrary<string> => {
  const name = target.slice(1);
  return fc.constantFrom(
    `/${target}`,
    `//${target}`,
    `${target}/`,
    `${target}//`,
    `/.${target}`,
    `/..${target}`,
    `/${mark}/..${target}`,
    `/${mark}/%2e%2e${target}`,
    `/${mark}/%2E.${target}`,
    `/%2e${target}`,
    `/health/..${target}`,
    `/${mark}/../..${target}`,
    `${target}/.`,
    `${target}/%2e`,
    `${target}/${mark}/..`,
    `${target}%00`,
    `/%${name.charCodeAt(0).toString(16)}${name.slice(1)}`,
    `http://localhost/%${name.charCodeAt(0).toString(16).toUpperCase()}${name.slice(1)}`,
    `${target}#${mark}`,
    `${target}%20`,
    `${target}%0d%0a${mark}`,
    `${target}%2f`,
    `/%2f${name}`,
    `/${name.replaceAll("/", "%2f")}%2f..`,
    `${target};${mark}=1`,
    `/;${mark}${target}`,
    `/${mark};/..${target}`,
    `${target}\\`,
    `/\\${name}`,
    `/${mark}\\..\\${name}`,
    `${target}..`,
    `${target}.json`,
    `${target}%23`,
    `${target}%3f`,
    `/..%252f${name}`,
    `/%c0%ae%c0%ae${target}`,
    `/%ef%bc%8f${name}`,
    `${target}${target}`,
  );
};

const queries = ({ target, mark }: Subject): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(
      `${target}?`,
      `${target}??`,
      `${target}?${mark}`,
      `${target}?limit=${mark}`,
      `${target}?limit=-1`,
      `${target}?limit=1&limit=2`,
      `${target}?limit=1e9`,
      `${target}?limit[]=1`,
      `${target}?__proto__=${mark}`,
      `${target}?%`,
      `${target}?%zz=%`,
      `${target}?a=/../..`,
      `${target}#${mark}`,
      `${target}?x=%00`,
      `${target}?before=${mark}&after=${mark}`,
    ),
    fc.integer({ min: 1, max: 2_000 }).map((count) => `${target}?${`${mark.slice(0, 5)}=1&`.repeat(count)}`),
    fc.string({ unit: "grapheme-ascii", maxLength: 100 }).map((text) => `${target}?${encodeURIComponent(text)}`),
  );

/** RFC 9112 section 3.2: absolute, authority and asterisk form, in right and wrong places. */
const forms = ({ target, mark }: Subject): fc.Arbitrary<string> =>
  fc.constantFrom(
    `http://localhost${target}`,
    `HTTP://LOCALHOST${target}`,
    `https://localhost:443${target}`,
    `http://${mark}.example${target}`,
    `http://localhost@${mark}.example${target}`,
    `http://${mark}@localhost${target}`,
    `http://localhost#${target}`,
    `http://localhost?${mark}`,
    `http://${target}`,
    `http:${target}`,
    `http:/${target}`,
    `ftp://localhost${target}`,
    `file://${target}`,
    `javascript:${mark}`,
    "localhost:80",
    `${mark}.example:443`,
    "*",
    target.slice(1) || mark,
    `?${mark}`,
    `http://[::1]${target}`,
    `http://[::1%25${mark}]${target}`,
    `http://localhost:99999${target}`,
    `http://localhost/http://${mark}${target}`,
  );

const lengths = ({ target, mark }: Subject): fc.Arbitrary<string> =>
  fc
    .integer({ min: 100, max: 40_000 })
    .chain((length) =>
      fc.constantFrom(
        `${target}/${mark.padEnd(length, "a")}`,
        `${target}/${mark}${"/a".repeat(length >> 1)}`,
        `${target}/${mark}${"/..".repeat(length >> 2)}`,
        `${target}?${mark}=${"%41".repeat(length >> 2)}`,
        `/${"%25".repeat(length >> 2)}${mark}`,
      ),
    );

const noise = (mark: string): fc.Arbitrary<string> =>
  fc
    .array(fc.integer({ min: 1, max: 255 }), { minLength: 1, maxLength: 60 })
    .map((bytes) => `/${String.fromCharCode(...bytes.filter((byte) => byte !== 0x20))}${mark}`);
