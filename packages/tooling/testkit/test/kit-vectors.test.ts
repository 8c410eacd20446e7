// The `allowlist` group of the conformance vectors, straight from the file. Here, as the kit's own tests can't have the
// testkit: it depends on the kit.
import { type AllowMode, isAllowed } from "@svc/kit";
import { expect, test } from "vitest";
import { vectorCases } from "../src/vectors.ts";

interface Input {
  readonly allowed: string[];
  readonly user: string;
  readonly mode: AllowMode;
}

test.each(vectorCases<Input, boolean>("allowlist"))("$name", ({ input, expected }) => {
  expect(isAllowed(input.allowed, input.user, input.mode)).toBe(expected);
});
