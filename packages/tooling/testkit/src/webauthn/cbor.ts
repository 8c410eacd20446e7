/** The little of CBOR that authenticators write: https://www.rfc-editor.org/rfc/rfc8949 */

export type CborValue = number | string | Uint8Array | readonly CborValue[] | ReadonlyMap<number | string, CborValue>;

export function cbor(value: CborValue): Buffer {
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map) {
    return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, item]) => [cbor(key), cbor(item)])]);
  }
  const items = value as readonly CborValue[];
  return Buffer.concat([head(4, items.length), ...items.map(cbor)]);
}

/** Major type and length (or number) in the shortest form. */
function head(major: number, length: number): Buffer {
  const type = major << 5;
  if (length < 24) return Buffer.from([type | length]);
  if (length < 0x100) return Buffer.from([type | 24, length]);
  if (length < 0x1_0000) return Buffer.from([type | 25, length >> 8, length & 0xff]);
  const long = Buffer.alloc(5);
  long[0] = type | 26;
  long.writeUInt32BE(length, 1);
  return long;
}
