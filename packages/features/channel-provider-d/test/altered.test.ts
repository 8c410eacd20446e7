// One value that is not what the platform's documents say, wherever it is, must be no error, which its server counts
// against the bot, and no message that can't be kept or answered.
import { readdirSync } from "node:fs";
import type { Json } from "@svc/contract";
import { everyAlteration, flawOf } from "@svc/testkit/conformance/channel-conformance";
import { expect, test } from "vitest";
import { fixture, open, posted } from "./open-channel.ts";

const { ingress } = open({ allowed_users: ["*"] });
const flawIn = (payload: unknown): string | undefined => flawOf(ingress.parse(posted(payload as Json)), "provider_d");

test.each(readdirSync(`${import.meta.dirname}/fixtures`))("%s", (name) => {
  const payload = fixture(name.replace(".json", ""));
  expect(new Set(Array.from(everyAlteration(payload), flawIn))).toEqual(new Set([undefined]));
});

/** The message itself is JSON inside of the JSON. */
test.each(["create", "file", "file-with-caption", "location", "poll", "voice-message"])("the content of %s", (name) => {
  const payload = fixture(name) as { object: { content: string } };
  const flaws = Array.from(everyAlteration(JSON.parse(payload.object.content) as Json), (content) =>
    flawIn({ ...payload, object: { ...payload.object, content: JSON.stringify(content) } }),
  );
  expect(flaws.length).toBeGreaterThan(20);
  expect(new Set(flaws)).toEqual(new Set([undefined]));
});
