// A delivery with one altered value must not throw, or the platform would repeat it for hours; nor become a message that
// can't be stored or answered.
import { readdirSync, readFileSync } from "node:fs";
import type { Json } from "@svc/contract";
import { everyAlteration, flawOf } from "@svc/testkit/conformance/channel-conformance";
import { expect, test } from "vitest";
import { open, requestOf } from "./open-channel.ts";

const FIXTURES = `${import.meta.dirname}/fixtures`;
const { ingress } = open({ allowed_senders: ["*"] });

const flawIn = (payload: unknown): string | undefined => {
  const body = Buffer.from(JSON.stringify(payload));
  return flawOf(ingress.parse(requestOf({ method: "POST", query: "", headers: {}, body })), "provider_b");
};

test.each(readdirSync(FIXTURES))("%s", (name) => {
  const recorded = [JSON.parse(readFileSync(`${FIXTURES}/${name}`, "utf8"))].flat() as Json[];
  const flaws = recorded.flatMap((payload) => Array.from(everyAlteration(payload), flawIn));
  expect(flaws.length).toBeGreaterThan(100);
  expect(new Set(flaws)).toEqual(new Set([undefined]));
});
