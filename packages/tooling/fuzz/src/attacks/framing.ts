/**
 * Request smuggling: bytes in which two readers see different requests. Behind the ambiguous one stands a hidden request,
 * and behind that the request of a victim, with a token, as a proxy would send it on the same connection. The one right
 * answer is to refuse the first and to end the connection: then no reader interprets the bytes that follow.
 */
import * as fc from "fast-check";
import type { Attack } from "../attack.ts";
import { bytesOf, CRLF, type Header, headOf } from "./request.ts";
import type { Subject } from "./subject.ts";

/** What must never become a turn: looked for in the database when all is over. */
export const HIDDEN = "hidden-in-another-request";

export function framingAttacks(subject: Subject): fc.Arbitrary<Attack> {
  return fc.tuple(doubtful(subject), fc.boolean()).map(([bytes, isSplit]) => {
    const rest = Buffer.concat([hidden(), victim(subject)]);
    return {
      kind: "smuggling",
      // A reader that stops at the first segment's end must not begin anew with the second.
      steps: isSplit ? [{ write: bytes }, { write: rest }] : [{ write: Buffer.concat([bytes, rest]) }],
      ending: "answer",
      requests: 1,
      broken: "refused",
      marks: [subject.mark],
    };
  });
}

/** Without a token, an answer would be legitimate. With the victim's token, it would not. */
function hidden(): Buffer {
  const body = Buffer.from(JSON.stringify({ message: HIDDEN }));
  const headers: Header[] = [
    ["Host", "localhost"],
    ["Content-Type", "application/json"],
  ];
  return bytesOf({ method: "POST", target: "/webhook", headers, body });
}

function victim({ credentials }: Subject): Buffer {
  const body = Buffer.from(JSON.stringify({ message: `${HIDDEN}, the victim's` }));
  const headers: Header[] = [
    ["Host", "localhost"],
    ["Authorization", `Bearer ${credentials.token}`],
    ["X-Webhook-Secret", credentials.webhookSecret],
    ["Content-Type", "application/json"],
  ];
  return bytesOf({ method: "POST", target: "/webhook", headers, body });
}

function doubtful(subject: Subject): fc.Arbitrary<Buffer> {
  const { body, headers, mark } = subject;
  const length = body.length;
  const withLines = (lines: readonly string[], after: Buffer): Buffer => {
    const head = headOf(subject).subarray(0, -CRLF.length);
    const text = lines.map((line) => line + CRLF).join("") + CRLF;
    return Buffer.concat([head, Buffer.from(text, "latin1"), after]);
  };
  const empty = Buffer.from(`0${CRLF}${CRLF}`);
  const lengths = fc
    .constantFrom(
      `+${length}`,
      `-${length + 1}`,
      `0x${length.toString(16)}`,
      `${length} 0`,
      `${length},${length}`,
      "",
      `${length}.0`,
      `${length};`,
      "1e1",
      "9".repeat(30),
      `${length}\x0b`,
      `${length}\0`,
      `"${length}"`,
      "NaN",
      mark,
    )
    .map((value) => withLines([`Content-Length: ${value}`], body));
  const twoLengths = fc
    .constantFrom(0, 1, length, length + 1)
    .map((other) => withLines([`Content-Length: ${length}`, `Content-Length: ${other}`], body));
  const both = fc.boolean().map((lengthFirst) => {
    const lines = [`Content-Length: ${length + empty.length}`, "Transfer-Encoding: chunked"];
    return withLines(lengthFirst ? lines : lines.reverse(), Buffer.concat([empty, body]));
  });
  const codings = fc
    .constantFrom(
      "xchunked",
      "chunked, identity",
      "identity",
      "identity, chunked",
      "gzip, chunked",
      "chunked, chunked",
      "\x0bchunked",
      "chunked\x0c",
      "chunked;q=1",
      '"chunked"',
      "chunked,",
      ",chunked",
      "chunked\0",
      "chun\u00a0ked",
      "gzip",
      mark,
    )
    .map((coding) => withLines([`Transfer-Encoding: ${coding}`], empty));
  const twoCodings = fc
    .constantFrom("chunked", "identity", "xchunked", "gzip", "")
    .map((other) => withLines(["Transfer-Encoding: chunked", `Transfer-Encoding: ${other}`], empty));
  const names = fc
    .constantFrom(
      "Content-Length : 5",
      "Transfer-Encoding : chunked",
      "Content-Length\t: 5",
      "Transfer-Encoding\0: chunked",
      "\x0bTransfer-Encoding: chunked",
      ": chunked",
      "Content Length: 5",
      "no colon at all",
      "X\u00e9: 1",
      `X: a${CRLF} Content-Length: 5`,
      `X: a${CRLF}\tTransfer-Encoding: chunked`,
      "X: a\nContent-Length: 5",
      "X: a\rContent-Length: 5",
      "X: a\n\nGET / HTTP/1.1",
      `X: ${mark}\0`,
      `Transfer-Encoding:${CRLF} chunked`,
    )
    .map((line) => withLines([line], empty));
  const lineEnds = fc.constantFrom("\n", "\r", "\r\r\n", "\n\r").map((end) => {
    const lines = [...headers, ["Content-Length", String(length)] as Header].map(
      ([name, value]) => `${name}: ${value}${end}`,
    );
    const text = `${subject.method} ${subject.target} HTTP/1.1${end}${lines.join("")}${end}`;
    return Buffer.concat([Buffer.from(text, "latin1"), body]);
  });
  const oldVersion = fc.constantFrom("chunked", "identity").map((coding) => {
    const head = headOf({ ...subject, version: "HTTP/1.0", headers: [...headers, ["Transfer-Encoding", coding]] });
    return Buffer.concat([head, empty]);
  });
  return fc.oneof(lengths, twoLengths, both, codings, twoCodings, names, lineEnds, oldVersion);
}
