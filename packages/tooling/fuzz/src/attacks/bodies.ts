/** Complete requests with an invalid body: wrong JSON, encoding, type or size. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import * as fc from "fast-check";
import type { Attack } from "../attack.ts";
import { jsonTexts } from "./json.ts";
import { bytesOf, chunked, type Header, headOf, whole, without } from "./request.ts";
import type { Subject } from "./subject.ts";

/** What the attacked service is configured to take. */
export const MAX_BODY_BYTES = 262_144;

export function bodyAttacks(subject: Subject): fc.Arbitrary<Attack> {
  const sent = (kind: string, body: Buffer, headers: readonly Header[] = []): Attack =>
    whole(kind, bytesOf({ ...subject, headers: [...replaced(subject.headers, headers), ...headers], body }), [
      subject.mark,
    ]);
  const text = jsonTexts(subject.mark, MAX_BODY_BYTES);
  return fc.oneof(
    { weight: 8, arbitrary: text.map((json) => sent("json", Buffer.from(json))) },
    { weight: 2, arbitrary: fc.uint8Array({ maxLength: 2_000 }).map((bytes) => sent("bytes", Buffer.from(bytes))) },
    { weight: 2, arbitrary: notUtf8(subject.mark).map((bytes) => sent("not utf-8", bytes)) },
    { weight: 2, arbitrary: otherEncodings(subject.mark).map(([bytes, type]) => sent("encoding", bytes, [type])) },
    { weight: 2, arbitrary: compressed(subject.mark).map(([bytes, coding]) => sent("compressed", bytes, [coding])) },
    { weight: 2, arbitrary: contentTypes(subject.mark).map((type) => sent("content type", subject.body, [type])) },
    { weight: 1, arbitrary: tooLarge(subject) },
  );
}

/** Headers without those that are given anew. */
const replaced = (headers: readonly Header[], anew: readonly Header[]): Header[] =>
  without(headers, ...anew.map(([name]) => name.toLowerCase()));

const notUtf8 = (mark: string): fc.Arbitrary<Buffer> =>
  fc
    .constantFrom("c0af", "eda080", "f4908080", "ff", "80", "c3", "e282", "f09f98", "fffe", "0000", "c1bf")
    .chain((hex) =>
      fc.nat(40).map((at) => {
        const json = Buffer.from(`{"message":"${mark}${mark}"}`);
        return Buffer.concat([json.subarray(0, at), Buffer.from(hex, "hex"), json.subarray(at)]);
      }),
    );

function otherEncodings(mark: string): fc.Arbitrary<readonly [Buffer, Header]> {
  const json = `{"message":"${mark}"}`;
  const utf16le = Buffer.from(json, "utf16le");
  const utf16be = Buffer.from(utf16le).swap16();
  const marked = (bom: string, bytes: Buffer): Buffer => Buffer.concat([Buffer.from(bom, "hex"), bytes]);
  return fc.tuple(
    fc.constantFrom(
      marked("efbbbf", Buffer.from(json)),
      marked("efbbbfefbbbf", Buffer.from(json)),
      marked("fffe", utf16le),
      marked("feff", utf16be),
      utf16le,
      utf16be,
      marked("fffe0000", Buffer.from([...json].flatMap((one) => [one.charCodeAt(0), 0, 0, 0]))),
      marked("2b2f7638", Buffer.from(json)),
    ),
    fc
      .constantFrom("", "; charset=utf-8", "; charset=utf-16", "; charset=UTF-16LE", "; charset=latin1", '; charset="x')
      .map((parameter): Header => ["Content-Type", `application/json${parameter}`]),
  );
}

/** Ten megabytes in ten kilobytes: a server that unpacks it has lost already. */
const BOMB = gzipSync(Buffer.alloc(10_000_000, 0x20), { level: 9 });

function compressed(mark: string): fc.Arbitrary<readonly [Buffer, Header]> {
  const json = Buffer.from(`{"message":"${mark}"}`);
  const packers = [gzipSync, deflateSync, brotliCompressSync, zstdCompressSync, () => BOMB, () => json];
  const codings = [
    "gzip",
    "deflate",
    "br",
    "zstd",
    "x-gzip",
    "gzip, gzip",
    "identity",
    "IDENTITY",
    "identity, gzip",
    mark,
  ];
  return fc.tuple(
    fc.constantFrom(...packers).map((pack) => pack(json)),
    fc.constantFrom(...codings).map((coding): Header => ["Content-Encoding", coding]),
  );
}

const contentTypes = (mark: string): fc.Arbitrary<Header> =>
  fc
    .oneof(
      fc.constantFrom(
        "text/plain",
        "text/html",
        "application/json5",
        "application/jsonp",
        "application/json, text/plain",
        "application/x-www-form-urlencoded",
        `multipart/form-data; boundary=${mark}`,
        "application/vnd.api+json",
        "APPLICATION/JSON",
        "application/json;",
        " application/json",
        "application/json\t; charset=utf-8",
        `application/json; ${mark}`,
        "",
        "*/*",
        mark,
      ),
      fc.string({ maxLength: 40 }).map((text) => text.replace(/[^\t\x20-\x7e]/g, "")),
    )
    .map((type) => ["Content-Type", type]);

/** Declared, chunked, or only declared: the body need not be sent for the answer to come. */
function tooLarge(subject: Subject): fc.Arbitrary<Attack> {
  return fc
    .record({ bytes: fc.integer({ min: MAX_BODY_BYTES + 1, max: 3 * MAX_BODY_BYTES }), how: fc.nat(2) })
    .map(({ bytes, how }) => {
      const body = Buffer.alloc(bytes, `{"message":"${subject.mark}`);
      const framed = (name: string, value: string): Buffer =>
        headOf({ ...subject, headers: [...subject.headers, [name, value]] });
      const marks = [subject.mark];
      if (how === 0) return whole("too large", Buffer.concat([framed("Content-Length", String(bytes)), body]), marks);
      if (how === 1) {
        const chunks = chunked(
          body,
          Array.from({ length: bytes >> 14 }, () => 16_384),
        );
        return whole("too large in chunks", Buffer.concat([framed("Transfer-Encoding", "chunked"), chunks]), marks);
      }
      return whole("too large, unsent", framed("Content-Length", String(bytes * 1_000)), marks, { ending: "fin" });
    });
}
