/** Bodies in chunks: every right way to send them, and every wrong one. */
import * as fc from "fast-check";
import type { Attack } from "../attack.ts";
import { bytesOf, chunked, CRLF, headOf, type Header } from "./request.ts";
import { HIDDEN } from "./framing.ts";
import type { Subject } from "./subject.ts";

export function chunkAttacks(subject: Subject): fc.Arbitrary<Attack> {
  const head = headOf({ ...subject, headers: [...subject.headers, ["Transfer-Encoding", "chunked"]] });
  const attack = (kind: string, body: Buffer | string, more: Partial<Attack>): Attack => ({
    kind,
    steps: [{ write: Buffer.concat([head, typeof body === "string" ? Buffer.from(body, "latin1") : body]) }],
    ending: "answer",
    requests: 1,
    marks: [subject.mark],
    ...more,
  });
  return fc.oneof(
    { weight: 3, arbitrary: sound(subject.body).map((body) => attack("chunks", body, {})) },
    {
      weight: 6,
      arbitrary: unsound(subject).map((body) => attack("broken chunks", body + next(), { broken: "last" })),
    },
    { weight: 1, arbitrary: unfinished(subject.body).map((body) => attack("half chunks", body, { ending: "fin" })) },
  );
}

function sound(body: Buffer): fc.Arbitrary<Buffer> {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 });
  const extended = fc
    .constantFrom(";a", ";a=b", ';a="b c"', ";a=b;c=d")
    .map((extension) =>
      Buffer.from(
        `${body.length.toString(16)}${extension}${CRLF}${body.toString("latin1")}${CRLF}0${CRLF}${CRLF}`,
        "latin1",
      ),
    );
  const upper = fc.constant(
    chunked(body, [])
      .toString("latin1")
      .replace(/^[0-9a-f]+/, (size) => `000${size.toUpperCase()}`),
  );
  const trailers = fc
    .constantFrom("X-Trailer: 1", "X-Idempotency-Key: trailer", "X-Session-Id: trailer")
    .map((line) => Buffer.concat([chunked(body, []).subarray(0, -CRLF.length), Buffer.from(`${line}${CRLF}${CRLF}`)]));
  if (body.length === 0) return fc.constant(chunked(body, []));
  return fc.oneof(
    sizes.map((list) => chunked(body, list)),
    extended,
    upper.map((text) => Buffer.from(text, "latin1")),
    trailers,
  );
}

/** The bytes after it are a request, for a reader that miscounts. */
function next(): string {
  const headers: Header[] = [
    ["Host", "localhost"],
    ["Content-Type", "application/json"],
  ];
  const body = Buffer.from(JSON.stringify({ message: HIDDEN }));
  return bytesOf({ method: "POST", target: "/webhook", headers, body }).toString("latin1");
}

function unsound({ body, mark }: Subject): fc.Arbitrary<string> {
  const data = body.length === 0 ? "x" : body.toString("latin1");
  const size = data.length.toString(16);
  const end = `${CRLF}0${CRLF}${CRLF}`;
  return fc.oneof(
    fc
      .constantFrom(
        "",
        "zz",
        `0x${size}`,
        `-${size}`,
        `+${size}`,
        ` ${size}`,
        `${size} `,
        "F".repeat(17),
        "1".repeat(400),
        mark,
        "\0",
        `${size}_`,
      )
      .map((wrong) => `${wrong}${CRLF}${data}${end}`),
    fc.constantFrom("", "\n", "\r", "XX", "\n\n").map((wrong) => `${size}${CRLF}${data}${wrong}0${CRLF}${CRLF}`),
    fc.constantFrom("\n", "\r", "\r\r\n").map((wrong) => `${size}${wrong}${data}${end}`),
    fc.integer({ min: 1, max: 5 }).map((less) => `${Math.max(0, data.length - less).toString(16)}${CRLF}${data}${end}`),
    fc.constantFrom(17_000, 70_000).map((length) => `${size};${mark}=${"e".repeat(length)}${CRLF}${data}${end}`),
    fc
      .constantFrom("Content-Length: 5", "Transfer-Encoding: chunked", "no colon", ": x", "X : y")
      .map((line) => `${size}${CRLF}${data}${CRLF}0${CRLF}${line}${CRLF}${CRLF}`),
    fc.constant(`${size}${CRLF}${data}${CRLF}0${CRLF}${`X-T: ${mark}${CRLF}`.repeat(3_000)}${CRLF}`),
  );
}

const unfinished = (body: Buffer): fc.Arbitrary<Buffer> => {
  const bytes = chunked(body, [3, 3]);
  return fc.nat(bytes.length - 1).map((length) => bytes.subarray(0, length));
};
