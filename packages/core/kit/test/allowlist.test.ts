// Who may talk to the agent: the `allowlist` group of the conformance vectors, and ways to slip past a list.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AllowMode, isAllowed } from "../src/index.ts";

describe("the list", () => {
  const cases: [string[], string, AllowMode, boolean][] = [
    [["*"], "alice", "exact", true],
    [[], "alice", "exact", false],
    [["alice"], "Alice", "exact", false],
    [["ALICE"], "Alice", "case_insensitive", true],
    [[""], "", "exact", false],
    [["  "], "", "case_insensitive", false],
    [["alicek"], "alice\u212A", "case_insensitive", false],
    [["example.com"], "User@Example.com", "email", true],
    [["@example.com"], "user@example.com", "email", true],
    [["user@example.com"], "USER@example.com", "email", true],
    [["user@example.com"], "other@example.com", "email", false],
    [["example.com"], "user@mail.example.com", "email", false],
    [["example.com"], "example.com", "email", false],
    [["example.com"], "evil@evil.test,@example.com", "email", false],
    [["example.com"], "user@example.com@evil.test", "email", false],
    [["example.com"], "<evil@evil.test> user@example.com", "email", false],
    [["+1-555-0100"], "+15550100", "phone", true],
    [["+1 (555) 0100"], "15550100", "phone", true],
    [["+1-555-0100"], "+15550101", "phone", false],
    [["+1-555-0100"], "+1555abc0100", "phone", false],
    [["+"], "", "phone", false],
    [["-"], "+", "phone", false],
  ];
  test.each(cases)("%j lets %j in (%s): %s", (allowed, user, mode, expected) => {
    expect(isAllowed(allowed, user, mode)).toBe(expected);
  });

  test("an empty list denies everybody, whatever the id and the mode", () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom("exact", "case_insensitive", "email", "phone"), (user, mode) => {
        expect(isAllowed([], user, mode)).toBe(false);
      }),
    );
  });
});
