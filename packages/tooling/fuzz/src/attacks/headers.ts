/** Whole requests whose headers are too many, too large, repeated, or lie. */
import * as fc from "fast-check";
import type { Attack } from "../attack.ts";
import { expectations, hopByHop, upgrades } from "./connection-headers.ts";
import { bytesOf, type Header, type RequestParts, whole, without } from "./request.ts";
import { anonymous, positions, signIns } from "./sign-ins.ts";
import type { Subject } from "./subject.ts";

export function headerAttacks(subject: Subject): fc.Arbitrary<Attack> {
  const { mark } = subject;
  const sent = (kind: string, headers: readonly Header[], parts: Partial<RequestParts> = {}): Attack =>
    whole(kind, bytesOf({ ...subject, headers: [...subject.headers, ...headers], ...parts }), [mark]);
  const instead = (kind: string, [name, value]: Header): Attack =>
    sent(kind, [], { headers: [...without(subject.headers, name.toLowerCase()), [name, value]] });
  return fc.oneof(
    { weight: 3, arbitrary: large(mark).map((headers) => sent("large headers", headers)) },
    { weight: 3, arbitrary: repeated(subject).map((headers) => sent("repeated headers", headers)) },
    { weight: 4, arbitrary: keys(mark).map((headers) => sent("keys and sessions", headers)) },
    { weight: 3, arbitrary: forwarding(mark).map((headers) => sent("forwarding headers", headers)) },
    { weight: 2, arbitrary: authorities(subject).map((header) => instead("authority", header)) },
    {
      weight: 2,
      arbitrary: signIns(subject).map((headers) => sent("cookies", headers, { headers: anonymous(subject) })),
    },
    { weight: 1, arbitrary: positions(mark).map((header) => sent("last event id", [header])) },
    { weight: 2, arbitrary: hosts(mark).map((header) => instead("host", header)) },
    { weight: 1, arbitrary: origins(mark).map((header) => sent("origin", [header])) },
    { weight: 2, arbitrary: upgrades(mark).map((headers) => sent("upgrade", headers)) },
    { weight: 1, arbitrary: expectations(mark).map((header) => sent("expect", [header])) },
    { weight: 2, arbitrary: hopByHop(mark).map((headers) => sent("hop by hop", headers)) },
  );
}

const large = (mark: string): fc.Arbitrary<readonly Header[]> =>
  fc.oneof(
    fc.integer({ min: 1_000, max: 80_000 }).map((length) => [["X-Large", mark.padEnd(length, "x")] as const]),
    fc
      .integer({ min: 10, max: 6_000 })
      .map((count) => Array.from({ length: count }, (_, n) => [`X-${n}`, ""] as const)),
    fc.integer({ min: 10, max: 20_000 }).map((length) => [[`X-${mark}`.padEnd(length, "n"), "v"] as const]),
    fc.integer({ min: 10, max: 3_000 }).map((count) => Array.from({ length: count }, () => ["Cookie", mark] as const)),
    // Every byte a value may hold, above ASCII too.
    fc
      .array(fc.integer({ min: 0x20, max: 0xff }), { minLength: 1, maxLength: 200 })
      .map((bytes) => [["X-Bytes", mark + String.fromCharCode(...bytes.filter((byte) => byte !== 0x7f))] as const]),
  );

/** One of the headers that mean something, once more: the same, and another. */
const repeated = ({ headers, mark }: Subject): fc.Arbitrary<readonly Header[]> =>
  fc.oneof(
    fc.constantFrom(...headers).map((header) => [header]),
    fc
      .constantFrom(
        "Host",
        "Authorization",
        "Content-Type",
        "X-Webhook-Secret",
        "X-Pairing-Code",
        "Origin",
        "Connection",
      )
      .map((name) => [[name, mark] as const]),
    fc
      .constantFrom("X-Idempotency-Key", "X-Session-Id", "webhook-id", "Content-Encoding", "Expect")
      .chain((name) =>
        fc.integer({ min: 2, max: 50 }).map((count) => Array.from({ length: count }, () => [name, mark])),
      ),
  ) as fc.Arbitrary<readonly Header[]>;

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."abcXYZ019._-"), maxLength: 300 }),
  fc.string({ unit: "grapheme-ascii", maxLength: 300 }),
  fc.integer({ min: 100, max: 15_000 }).map((length) => "k".repeat(length)),
  fc.constantFrom(
    "",
    " ",
    "\t",
    "../../etc/passwd",
    "%00",
    "'; DROP TABLE sessions;--",
    "__proto__",
    "constructor",
    "é",
  ),
);

const keys = (mark: string): fc.Arbitrary<readonly Header[]> =>
  fc
    .tuple(fc.constantFrom("X-Idempotency-Key", "X-Session-Id", "webhook-id", "webhook-signature"), text, fc.boolean())
    .map(([name, value, isMarked]) => [[name, isMarked ? `${value}${mark}` : value]]);

const NAMES = ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via", "X-Forwarded-Host", "CF-Connecting-IP"] as const;

/** A flood of them out of one peer: each a client that does not exist. */
const forwarding = (mark: string): fc.Arbitrary<readonly Header[]> => {
  const hop = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.ipV6().map((ip) => `[${ip}]:1`),
    fc.ipV4().map((ip) => `"${ip}:65535"`),
    fc.constantFrom(
      "unknown",
      "_hidden",
      "127.0.0.1",
      "::1",
      "::ffff:127.0.0.1",
      "1.2.3",
      "0x7f.1",
      "",
      mark,
      "::1%lo",
    ),
  );
  return fc
    .array(fc.tuple(fc.constantFrom(...NAMES), fc.array(hop, { maxLength: 300 })), { minLength: 1, maxLength: 6 })
    .map((headers) => headers.map(([name, hops]) => [name, hops.join(", ")] as const));
};

const authorities = ({ credentials: { token }, mark }: Subject): fc.Arbitrary<Header> =>
  fc
    .oneof(
      fc.constantFrom(
        `Bearer  ${token}`,
        `bearer ${token}`,
        `Bearer ${token.toUpperCase()}`,
        `Bearer ${token}, Bearer ${token}`,
        `Bearer ${token.slice(0, -1)}`,
        `Bearer ${token}${mark}`,
        `Bearer ${"a".repeat(12_000)}`,
        `Digest username="${mark}"`,
        "Bearer null",
        "Bearer undefined",
        "Bearer {}",
      ),
      fc.string({ unit: "grapheme-ascii", maxLength: 200 }).map((one) => one + mark),
    )
    .map((value) => ["Authorization", value]);

const hosts = (mark: string): fc.Arbitrary<Header> =>
  fc
    .constantFrom(
      `${mark}.example`,
      `localhost.${mark}.example`,
      `localhost@${mark}.example`,
      `localhost:80:${mark}`,
      "",
      " ",
      "[::1",
      "[::ffff:127.0.0.1]:99999",
      "127.1",
      "2130706433",
      "localhost/",
      "localhost#",
      "localhost, localhost",
      "LOCALHOST",
      "localhost.",
      mark.padEnd(9_000, "h"),
    )
    .map((value) => ["Host", value]);

const origins = (mark: string): fc.Arbitrary<Header> =>
  fc
    .constantFrom(
      "null",
      `https://${mark}.example`,
      "http://localhost",
      "file://",
      "",
      `http://localhost@${mark}`,
      mark,
    )
    .map((value) => ["Origin", value]);
