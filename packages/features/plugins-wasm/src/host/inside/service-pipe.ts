/** The process's way to the service: it waits where it reads, since a host function of a plugin can't wait in another way. */
import { readSync, writeSync } from "node:fs";
import { encodeFrame, FRAME_PREFIX_BYTES, type FromProcess, lengthsOf, type ToProcess } from "../frames.ts";

export interface ServiceFrame {
  readonly head: ToProcess;
  /** Of its own: no other's bytes are in its buffer. */
  readonly body: Uint8Array<ArrayBuffer>;
}

const [INPUT, OUTPUT] = [0, 1];

/** undefined: the service is gone, or has done with this process. */
export function receive(): ServiceFrame | undefined {
  const prefix = read(FRAME_PREFIX_BYTES);
  if (prefix === undefined) return undefined;
  const lengths = lengthsOf(prefix);
  const head = read(lengths.head);
  const body = read(lengths.body);
  if (head === undefined || body === undefined) return undefined;
  return { head: JSON.parse(new TextDecoder().decode(head)) as ToProcess, body };
}

export function send(head: FromProcess, body?: Uint8Array): void {
  const frame = encodeFrame(head, body);
  for (let at = 0; at < frame.byteLength;) at += writeSync(OUTPUT, frame, at);
}

function read(length: number): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = readSync(INPUT, bytes, at, length - at, null);
    if (count === 0) return undefined;
    at += count;
  }
  return bytes;
}
