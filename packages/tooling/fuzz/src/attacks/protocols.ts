/** Other protocols, other versions of this one, and no protocol at all. */
import * as fc from "fast-check";
import type { Attack } from "../attack.ts";
import { bytesOf, CRLF, EMPTY, whole, without } from "./request.ts";
import type { Subject } from "./subject.ts";

export const protocolAttacks = (subject: Subject): fc.Arbitrary<Attack> =>
  fc.oneof(
    { weight: 3, arbitrary: versions(subject) },
    { weight: 3, arbitrary: foreign(subject.mark).map((bytes) => strange("another protocol", bytes, subject)) },
    { weight: 2, arbitrary: garbage.map((bytes) => strange("garbage", bytes, subject)) },
    { weight: 2, arbitrary: mutated(subject).map((bytes) => strange("mutated", bytes, subject)) },
  );

/** It may or may not contain a request, but never more than one. */
const strange = (kind: string, bytes: Buffer, { mark }: Subject): Attack =>
  whole(kind, bytes, [mark], { ending: "fin", mute: true, requests: 2 });

function versions(subject: Subject): fc.Arbitrary<Attack> {
  const { method, target, headers, mark } = subject;
  const of = (version: string, host = true): Buffer =>
    bytesOf({ ...subject, version, headers: host ? headers : without(headers, "host") });
  const marks = [mark];
  return fc.oneof(
    fc.boolean().map((host) => whole("HTTP/1.0", of("HTTP/1.0", host), marks)),
    fc.constant(whole("no Host", of("HTTP/1.1", false), marks)),
    fc
      .constantFrom(
        "HTTP/1.2",
        "HTTP/2.0",
        "HTTP/3",
        "HTTP/0.9",
        "http/1.1",
        "HTTP/1.",
        "HTTP/11",
        "HTTP /1.1",
        "ICE/1.0",
        mark,
      )
      .map((version) => whole("another version", of(version), marks, { ending: "fin" })),
    // Node's parser takes it for HTTP/1.0 and serves it. An answer that takes a moment is not sent to a client that has ended.
    fc.constant(whole("RTSP", of("RTSP/1.0"), marks)),
    fc
      .constantFrom(CRLF, "\n", "")
      .map((end) => whole("HTTP/0.9", Buffer.from(`${method} ${target}${end}`), marks, { ending: "fin" })),
    fc
      .constantFrom(1, 2, 50)
      .map((count) =>
        whole("blank lines first", Buffer.concat([Buffer.from(CRLF.repeat(count)), of("HTTP/1.1")]), marks),
      ),
  );
}

const foreign = (mark: string): fc.Arbitrary<Buffer> =>
  fc.constantFrom(
    // The beginnings of HTTP/2, TLS 1.2 and 1.3, SSH, SOCKS 4 and 5, the PROXY protocol, SMTP, Redis, a mail of a bored scanner.
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64", "latin1"),
    Buffer.from("16030100c8010000c40303", "hex"),
    Buffer.concat([Buffer.from("1603010200010001fc0303", "hex"), Buffer.alloc(508, 7)]),
    Buffer.from("8046010301002d0000001000000100", "hex"),
    Buffer.from(`SSH-2.0-${mark}\r\n`),
    Buffer.from("0401005d7f000001757365720000", "hex"),
    Buffer.from("05020002", "hex"),
    Buffer.from(`PROXY TCP4 203.0.113.7 127.0.0.1 1 2\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n`),
    Buffer.from("0d0a0d0a000d0a515549540a20110000", "hex"),
    Buffer.from(`EHLO ${mark}\r\nMAIL FROM:<${mark}>\r\n`),
    Buffer.from(`*1\r\n$4\r\nPING\r\n${mark}`),
    Buffer.from("\0\0\0\x0c\0\x03\0\0", "latin1"),
    Buffer.from(`<policy-file-request/>\0${mark}`),
    EMPTY,
  );

const garbage: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
  fc.integer({ min: 1, max: 100_000 }).map((length) => Buffer.alloc(length, 0)),
  fc.integer({ min: 1, max: 100_000 }).map((length) => Buffer.alloc(length, "\r\n")),
  fc.integer({ min: 1, max: 100_000 }).map((length) => Buffer.alloc(length, "A")),
);

/** A request in order with some of its bytes changed, doubled or left out. */
const mutated = (subject: Subject): fc.Arbitrary<Buffer> => {
  const bytes = bytesOf(subject);
  const change = fc.record({
    at: fc.nat(bytes.length - 1),
    by: fc.nat(255),
    how: fc.nat(3),
    count: fc.integer({ min: 1, max: 8 }),
  });
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) =>
    changes.reduce((now, { at, by, how, count }) => {
      const before = now.subarray(0, at);
      if (how === 0) return Buffer.concat([before, Buffer.from([by]), now.subarray(at + 1)]);
      if (how === 1) return Buffer.concat([before, now.subarray(at + count)]);
      if (how === 2) return Buffer.concat([before, Buffer.alloc(count, by), now.subarray(at)]);
      return Buffer.concat([now.subarray(0, at + count), now.subarray(at)]);
    }, bytes),
  );
};
