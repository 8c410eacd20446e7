/** Frames of the long connection as the platform reads and writes them: protobuf, `pbbp2.Frame`. Written apart from the channel's. */

export interface WorkchatFrame {
  readonly method: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Buffer;
}

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const block = (field: number, bytes: Uint8Array): number[] => [
  ...varint(field * 8 + 2),
  ...varint(bytes.length),
  ...bytes,
];

export function workchatFrame({ method, headers, payload }: WorkchatFrame): Buffer {
  const listed = Object.entries(headers).flatMap(([key, value]) =>
    block(5, Uint8Array.from([...block(1, Buffer.from(key)), ...block(2, Buffer.from(value))])),
  );
  // SeqID, LogID, service, method.
  const start = [8, ...varint(1), 16, ...varint(7_000_000_000), 24, ...varint(33_554_678), 32, ...varint(method)];
  return Buffer.concat([Uint8Array.from([...start, ...listed, ...varint(66), ...varint(payload.length)]), payload]);
}

/** Throws for what the platform could not read, and for one that lacks a required field. */
export function readWorkchatFrame(bytes: Buffer): WorkchatFrame {
  const numbers = new Map<number, number>();
  const headers: Record<string, string> = {};
  let payload: Buffer = Buffer.alloc(0);
  for (const [field, value] of fieldsOf(bytes)) {
    if (typeof value === "number") numbers.set(field, value);
    else if (field === 5) {
      const [key, text] = [1, 2].map((wanted) => fieldsOf(value).find(([own]) => own === wanted)?.[1]);
      if (!Buffer.isBuffer(key) || !Buffer.isBuffer(text)) throw new Error("a header without key or value");
      headers[key.toString()] = text.toString();
    } else if (field === 8) payload = value;
  }
  for (const field of [1, 2, 3, 4]) if (!numbers.has(field)) throw new Error(`field ${field} is missing`);
  return { method: numbers.get(4)!, headers, payload };
}

function fieldsOf(bytes: Buffer): [field: number, value: number | Buffer][] {
  const fields: [number, number | Buffer][] = [];
  let at = 0;
  const number = (): number => {
    for (let value = 0, factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error("a frame ends in the middle");
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = number();
    const value = number();
    if (tag % 8 === 0) fields.push([tag >> 3, value]);
    else if (tag % 8 === 2 && at + value <= bytes.length) {
      fields.push([tag >> 3, bytes.subarray(at, at + value)]);
      at += value;
    } else throw new Error(`a field of wire type ${tag % 8}`);
  }
  return fields;
}
