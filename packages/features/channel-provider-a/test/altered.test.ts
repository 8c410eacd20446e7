// One value that is not what the platform's documents say, wherever it is, must be no error, which would be posted again
// for a week, and no message that can't be kept or answered.
import { readdirSync } from "node:fs";
import type { Json } from "@svc/contract";
import { everyAlteration, flawOf } from "@svc/testkit/conformance/channel-conformance";
import { expect, test } from "vitest";
import { fixture, harness, post } from "./harness.ts";

const { ingress } = harness();
const flawIn = (payload: unknown): string | undefined =>
  flawOf(ingress.parse(post(JSON.stringify(payload))), "provider_a");

test.each(readdirSync(`${import.meta.dirname}/fixtures`))("%s", (name) => {
  const payload = JSON.parse(fixture(name.replace(".json", ""))) as Json;
  expect(new Set(Array.from(everyAlteration(payload), flawIn))).toEqual(new Set([undefined]));
});
