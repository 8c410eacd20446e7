/** Requests as bytes, built without a library, which would refuse to send malformed ones. */
import type { Attack } from "../attack.ts";

export type Header = readonly [name: string, value: string];

export interface RequestParts {
  readonly method: string;
  readonly target: string;
  readonly version?: string;
  /** Without framing. Text is latin1: each character is a byte. */
  readonly headers: readonly Header[];
  readonly body: Buffer;
}

export const EMPTY = Buffer.alloc(0);
export const CRLF = "\r\n";

/** Request line and headers with their end; the framing is up to the caller. */
export function headOf({ method, target, version = "HTTP/1.1", headers }: Omit<RequestParts, "body">): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}${CRLF}`).join("");
  return Buffer.from(`${method} ${target} ${version}${CRLF}${lines}${CRLF}`, "latin1");
}

/** A request in order, framed by its length. */
export function bytesOf(parts: RequestParts): Buffer {
  const hasBody = parts.body.length > 0 || !/^(?:GET|HEAD|OPTIONS|DELETE)$/.test(parts.method);
  const length: Header[] = hasBody ? [["Content-Length", String(parts.body.length)]] : [];
  return Buffer.concat([headOf({ ...parts, headers: [...parts.headers, ...length] }), parts.body]);
}

/** The same, in chunks of the given sizes (the last takes the rest). */
export function chunked(body: Buffer, sizes: readonly number[], lineEnd = CRLF): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const size of [...sizes, body.length]) {
    const chunk = body.subarray(at, at + size);
    if (chunk.length === 0) continue;
    parts.push(Buffer.from(`${chunk.length.toString(16)}${lineEnd}`), chunk, Buffer.from(lineEnd));
    at += chunk.length;
  }
  return Buffer.concat([...parts, Buffer.from(`0${lineEnd}${lineEnd}`)]);
}

export const without = (headers: readonly Header[], ...names: readonly string[]): Header[] =>
  headers.filter(([name]) => !names.includes(name.toLowerCase()));

/** A whole request that waits for its one answer. */
export function whole(kind: string, bytes: Buffer, marks: readonly string[], more: Partial<Attack> = {}): Attack {
  return { kind, steps: [{ write: bytes }], ending: "answer", requests: 1, marks, ...more };
}
