// A list that all see has something of each client in it: a key that could be two clients' shows one what is the other's.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ClientId, displayKey, nameInKey } from "../src/index.ts";

/** With many of the signs that could be taken for another's. */
const text = fc.string({ unit: fc.constantFrom("a", "b", ":", "%", "3", "A", "2", "5", "é", "\ud800"), maxLength: 8 });
const client = text.map((id) => id as ClientId);

describe("a display key", () => {
  test("is {client_id}:{name}, as it is written down, for every client that the gateway makes", () => {
    expect(displayKey("Zk9-_x0" as ClientId, "build: web: 3%")).toBe("Zk9-_x0:build: web: 3%");
    expect(displayKey("anonymous" as ClientId, "")).toBe("anonymous:");
  });

  test("is one client's and one name's, and no two others'", () => {
    fc.assert(
      fc.property(client, text, client, text, (id, name, otherId, otherName) => {
        const isSame = id === otherId && name === otherName;
        expect(displayKey(id, name) === displayKey(otherId, otherName)).toBe(isSame);
      }),
      { numRuns: cases(2000), examples: [["a:b", "c", "a", "b:c"] as never, ["a:", "x", "a%3A", "x"] as never] },
    );
  });

  test("gives its name to whoever has its client, and to nobody else", () => {
    fc.assert(
      fc.property(client, text, client, (id, name, other) => {
        expect(nameInKey(displayKey(id, name), id)).toBe(name);
        fc.pre(other !== id);
        expect(nameInKey(displayKey(id, name), other)).toBeUndefined();
      }),
      { numRuns: cases(2000) },
    );
  });

  test.each(["", "a", "b:x", "A:x", "a%3A:x"])("%j is no key of the client a", (key) => {
    expect(nameInKey(key, "a" as ClientId)).toBeUndefined();
  });
});
