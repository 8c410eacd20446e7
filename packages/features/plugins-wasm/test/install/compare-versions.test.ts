// A downgrade is said to be one: a plugin's older version may have the hole that the newer one closed.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compareVersions } from "../../src/install/package.ts";

// The order of https://semver.org/#spec-item-11.
const ORDER = [
  "0.9.0",
  "1.0.0-alpha",
  "1.0.0-alpha.1",
  "1.0.0-alpha.beta",
  "1.0.0-beta",
  "1.0.0-beta.2",
  "1.0.0-beta.11",
  "1.0.0-rc-1.1",
  "1.0.0",
  "1.9.0",
  "1.10.0",
  "2.0.0-0",
  "10.0.0",
];

test("each is later than all before it", () => {
  for (const [at, one] of ORDER.entries()) {
    for (const [other, version] of ORDER.entries()) {
      expect(Math.sign(compareVersions(one, version)), `${one} ${version}`).toBe(Math.sign(at - other));
    }
  }
});

test("what follows a + does not count", () => {
  expect(compareVersions("1.0.0+a", "1.0.0+b-1")).toBe(0);
});

test("the other way round it is the other way round", () => {
  const version = fc
    .tuple(fc.nat(20), fc.nat(20), fc.constantFrom("", "-a", "-1", "-a.1", "-1.a", "+b"))
    .map(([x, y, end]) => `${x}.${y}.0${end}`);
  fc.assert(
    fc.property(version, version, (a, b) => {
      expect(Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a))).toBe(0);
    }),
  );
});
