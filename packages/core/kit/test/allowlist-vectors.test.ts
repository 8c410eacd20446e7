// The `allowlist` group of the conformance vectors, straight from the file.
import { vectorCases } from "@svc/testkit";
import { expect, test } from "vitest";
import { type AllowMode, isAllowed } from "../src/index.ts";

interface Input {
  readonly allowed: string[];
  readonly user: string;
  readonly mode: AllowMode;
}

test.each(vectorCases<Input, boolean>("allowlist"))("$name", ({ input, expected }) => {
  expect(isAllowed(input.allowed, input.user, input.mode)).toBe(expected);
});
