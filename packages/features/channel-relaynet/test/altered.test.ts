// One value that is not what the protocol says, wherever it is, must be no error, and no message in somebody's name.
import { cases } from "@svc/cases";
import type { Json } from "@svc/contract";
import { everyAlteration, flawOf } from "@svc/testkit/conformance/channel-conformance";
import { relaynetEvent, relaynetWrap } from "@svc/testkit/platforms/relaynet/people";
import { startRelaynet } from "@svc/testkit/platforms/relaynet/server";
import * as fc from "fast-check";
import { encrypt, getConversationKey } from "nostr-tools/nip44";
import { expect, test } from "vitest";
import { eventOf, identityOf, isRefused, openEvent } from "../src/protocol.ts";
import { inboundOf } from "../src/reader.ts";
import { ADA, AGENT, eventually, EVE, run } from "./fixture.ts";

const identity = identityOf(AGENT.nsec);
const atSecs = Math.floor(Date.now() / 1000);
const message = { from: ADA, to: AGENT.pubkey, text: "genuine", atMs: atSecs * 1000 };

/** What is said, if it is a message; throws for one that the inbox can't take. */
function readAs(value: unknown): string | undefined {
  const event = eventOf(value as Json);
  const opened = event && openEvent(event, identity);
  if (opened === undefined || isRefused(opened)) return undefined;
  const flaw = flawOf({ inbound: [inboundOf(opened)] }, "relaynet");
  if (flaw !== undefined) throw new Error(flaw);
  return opened.text;
}

test.each(["legacy", "wrapped"] as const)("an altered event of the protocol %s is no message", (protocol) => {
  const event = relaynetEvent({ ...message, protocol });
  expect(readAs(event)).toBe("genuine");
  let count = 0;
  for (const altered of everyAlteration({ ...event } as unknown as Json)) {
    expect(readAs(altered)).toBeUndefined();
    count += 1;
  }
  expect(count).toBeGreaterThan(20);
});

test("an altered rumor in a genuine seal is no error, and a message only of its author's", () => {
  const rumor = {
    kind: 14,
    created_at: atSecs,
    tags: [
      ["p", AGENT.pubkey],
      ["e", "ab".repeat(32), "", "reply"],
    ],
    content: "genuine",
    pubkey: ADA.pubkey,
  };
  expect(readAs(relaynetWrap(rumor, ADA, AGENT.pubkey, atSecs))).toBe("genuine");
  const alterations = [...everyAlteration(rumor as Json)];
  for (const altered of fc.sample(fc.constantFrom(...alterations), cases(alterations.length))) {
    const wrap = relaynetWrap(altered as object, ADA, AGENT.pubkey, atSecs);
    const event = eventOf(wrap as unknown as Json)!;
    const opened = openEvent(event, identity);
    expect(isRefused(opened) || opened.author === ADA.pubkey).toBe(true);
    readAs(wrap);
  }
});

test("what is wrapped may be any text", () => {
  const once = EVE.secretKey;
  const wrapAround = (text: string) => {
    const wrap = relaynetEvent({ ...message, from: EVE, protocol: "legacy" });
    return { ...wrap, kind: 1059, content: encrypt(text, getConversationKey(once, AGENT.pubkey)) };
  };
  const texts = fc.oneof(fc.string({ minLength: 1, maxLength: 300, unit: "binary" }), fc.json());
  fc.assert(
    fc.property(texts, (text) => {
      expect(readAs(wrapAround(text))).toBeUndefined();
    }),
    { numRuns: cases(200) },
  );
});

test("a relay that babbles is heard out", async () => {
  await using relay = await startRelaynet();
  await using running = await run({ relays: [relay.relay] });
  await eventually(() => running.context.log.text().includes("the platform knows this channel"));
  const frames = fc.oneof(
    fc.json(),
    fc.string({ unit: "binary" }),
    fc
      .tuple(
        fc.constantFrom("EVENT", "OK", "EOSE", "CLOSED", "NOTICE", "AUTH"),
        fc.constantFrom("svc-1", "svc-2", "svc-9", "x"),
        fc.jsonValue(),
        fc.jsonValue(),
      )
      // What ends the subscription ends the connection: that is another test's.
      .filter(([type, id]) => type !== "AUTH" && !(type === "CLOSED" && id === "svc-1"))
      .map((frame) => JSON.stringify(frame)),
  );
  for (const frame of fc.sample(frames, cases(500))) relay.babble(frame);
  await relay.write({ ...message, text: "after it", atMs: Date.now() + 1_000, protocol: "wrapped" });
  await eventually(() => running.context.received.length > 0);
  expect(running.context.received.map(({ text }) => text)).toEqual(["after it"]);
  expect(running.failure()).toBeUndefined();
});
