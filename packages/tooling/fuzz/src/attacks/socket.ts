/** What comes on a connection after it has become a WebSocket: talk in order, and frames that no client of sound mind sends. */
import * as fc from "fast-check";
import type { Attack } from "../attack.ts";
import { headOf, type Header, without } from "./request.ts";
import type { Subject } from "./subject.ts";

const HANDSHAKE: readonly Header[] = [
  ["Connection", "Upgrade"],
  ["Upgrade", "websocket"],
  ["Sec-WebSocket-Version", "13"],
  ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="],
];

/** Those that open one, if the token does. */
export function socketAttacks(subject: Subject): fc.Arbitrary<Attack> {
  const { mark } = subject;
  const headers = [...without(subject.headers, "connection"), ...HANDSHAKE];
  const head = headOf({ ...subject, headers });
  const attack = (kind: string, frames: readonly Buffer[], how: NonNullable<Attack["frames"]>): Attack => ({
    kind,
    steps: [{ write: Buffer.concat([head, ...frames]) }],
    ending: "answer",
    requests: 1,
    frames: how,
    marks: [mark],
  });
  const talk = fc.array(sound(mark), { maxLength: 12 }).map((frames) => frames.flat());
  return fc.oneof(
    { weight: 4, arbitrary: talk.map((frames) => attack("talk", [...frames, CLOSE], "sound")) },
    {
      weight: 5,
      arbitrary: fc
        .tuple(talk, broken(mark))
        .map(([before, wrong]) => attack("broken frames", [...before, wrong], "broken")),
    },
    {
      weight: 1,
      arbitrary: talk.map((frames) => ({ ...attack("leaves", frames, "sound"), ending: "reset" as const })),
    },
  );
}

/** A frame as RFC 6455 section 5.2 has it, masked. */
function frame(first: number, payload: Buffer): Buffer {
  const { length } = payload;
  const mask = Buffer.of(1, 2, 3, 4);
  const masked = payload.map((byte, index) => byte ^ mask[index % 4]!);
  return Buffer.concat([Buffer.of(first), lengthOf(length), mask, masked]);
}

function lengthOf(length: number): Buffer {
  if (length < 126) return Buffer.of(0x80 | length);
  if (length < 65_536) return Buffer.of(0x80 | 126, length >> 8, length & 255);
  const bytes = Buffer.alloc(9, 0x80 | 127);
  bytes.writeBigUInt64BE(BigInt(length), 1);
  return bytes;
}

const TEXT = 0x81;
const CLOSE = frame(0x88, Buffer.of(0x03, 0xe8));

const texts = (mark: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc
      .record({
        type: fc.constantFrom("message", "resume", "ping", mark, 1, null),
        content: fc.oneof(fc.constant(`say ${mark}`), fc.jsonValue(), fc.string({ unit: "binary", maxLength: 200 })),
        session_id: fc.oneof(fc.constantFrom(undefined, "mine", mark, "", "../x"), fc.jsonValue()),
        last_event_id: fc.oneof(
          fc.constantFrom(undefined, mark, "x-1", "-", `${mark}-999999999999999`),
          fc.jsonValue(),
        ),
      })
      .map((value) => JSON.stringify(value)),
    fc.json(),
    fc.constantFrom("", "{", mark, "[".repeat(5_000), '{"__proto__":{"type":"message"}}', `"${mark}"`),
    fc
      .integer({ min: 1, max: 300_000 })
      .map((length) => JSON.stringify({ type: "message", content: "x".repeat(length) })),
  );

/** One message or one sign of life, in as many frames as it likes. */
const sound = (mark: string): fc.Arbitrary<Buffer[]> =>
  fc.oneof(
    { weight: 4, arbitrary: texts(mark).map((text) => [frame(TEXT, Buffer.from(text))]) },
    { weight: 2, arbitrary: fc.tuple(texts(mark), fc.integer({ min: 2, max: 40 })).map(fragments) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(0x89, 0x8a), fc.uint8Array({ maxLength: 125 }))
        .map(([first, bytes]) => [frame(first, Buffer.from(bytes))]),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 500 }).map((bytes) => [frame(0x82, Buffer.from(bytes))]) },
  );

/** With a ping in the middle, which may come there. */
function fragments([text, count]: readonly [string, number]): Buffer[] {
  const bytes = Buffer.from(text);
  const size = Math.max(1, Math.ceil(bytes.length / count));
  const parts = Array.from({ length: Math.max(2, Math.ceil(bytes.length / size)) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
  const frames = parts.map((part, index) =>
    frame((index === parts.length - 1 ? 0x80 : 0) | (index === 0 ? 1 : 0), part),
  );
  return frames.toSpliced(1, 0, frame(0x89, Buffer.from("in between")));
}

const MANY_FRAGMENTS = Buffer.concat(
  Array.from({ length: 2_000 }, (_, index) => frame(index === 0 ? 1 : 0, Buffer.from("x"))),
);

/** Each ends the connection: the start of the next frame, or its message, is unknown. */
const broken = (mark: string): fc.Arbitrary<Buffer> =>
  fc.constantFrom(
    Buffer.of(0x81, 0x01, 0x78),
    frame(0xc1, Buffer.from(mark)),
    frame(0xa1, Buffer.from(mark)),
    frame(0x83, Buffer.from(mark)),
    frame(0x8f, Buffer.from(mark)),
    frame(0x80, Buffer.from(mark)),
    Buffer.concat([frame(0x01, Buffer.from(mark)), frame(0x81, Buffer.from(mark))]),
    frame(0x81, Buffer.of(0xff, 0xfe, 0xc0, 0xaf)),
    frame(0x89, Buffer.alloc(126)),
    frame(0x09, Buffer.from(mark)),
    frame(0x88, Buffer.of(0x03)),
    frame(0x88, Buffer.of(0x03, 0xed)),
    frame(0x88, Buffer.of(0xff, 0xff)),
    frame(0x88, Buffer.of(0x03, 0xe8, 0xff)),
    Buffer.of(0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4),
    Buffer.of(0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4),
    MANY_FRAGMENTS,
    // A request smuggled behind the handshake.
    Buffer.from(`GET /api/devices HTTP/1.1\r\nHost: localhost\r\nX-Mark: ${mark}\r\n\r\n`),
  );
