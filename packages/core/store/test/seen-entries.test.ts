// Bytes on disk that are read as another id, or as another time, than was written.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ENTRY_BYTES, expiryIn, lastExpiry, pack, type SeenEntry, unpack } from "../src/messages/dedupe.ts";

const digest = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => String.fromCharCode(...bytes));
const entries = fc.uniqueArray(
  fc.tuple(digest, fc.integer({ min: 0, max: 8.64e15 })).map((entry): SeenEntry => entry),
  { selector: ([one]) => one },
);

test("come back as they were, each with its own time", () => {
  fc.assert(
    fc.property(entries, digest, (all, stranger) => {
      const packed = pack(all);
      expect(packed.length).toBe(all.length * ENTRY_BYTES);
      expect([...unpack(packed)]).toEqual(all);
      for (const [one, expiresAtMs] of all) expect(expiryIn(packed, one)).toBe(expiresAtMs);
      fc.pre(all.every(([one]) => one !== stranger));
      expect(expiryIn(packed, stranger)).toBeUndefined();
      expect(lastExpiry(all)).toBe(Math.max(0, ...all.map(([, expiresAtMs]) => expiresAtMs)));
    }),
  );
});

test("bytes that lie across two entries are no digest, also where one follows", () => {
  const first: SeenEntry = ["0123456789abcdef", 1_795_278_245_955];
  const across = Buffer.from(pack([first])).toString("latin1", 8, 24);
  expect(expiryIn(pack([first]), across)).toBeUndefined();
  expect(expiryIn(pack([first, [across, 7]]), across)).toBe(7);
});
