// Features meet through keys and plain values: what is provided is found by its key, in order, and by nothing else.
import { expect, test } from "vitest";
import { defineCapability, findProvided, provide } from "../src/index.ts";

const LAMPS = defineCapability<{ readonly on: () => string }>("lamps");
const DOORS = defineCapability<number>("doors");

test("finds every value that is provided for a key, in order, and keeps each as it is", () => {
  const lamp = { on: () => "lit" };
  const provided = [provide(LAMPS, lamp), provide(DOORS, 3), provide(LAMPS, { on: () => "broken" })];
  expect(findProvided(provided, LAMPS).map((one) => one.on())).toEqual(["lit", "broken"]);
  expect(findProvided(provided, LAMPS)[0]).toBe(lamp);
  expect(findProvided(provided, DOORS)).toEqual([3]);
});

test("finds nothing where no feature provides the key", () => {
  expect(findProvided([provide(DOORS, 1)], LAMPS)).toEqual([]);
});
