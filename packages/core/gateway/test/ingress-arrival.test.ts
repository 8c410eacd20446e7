// How a delivery is stored: under the key of its conversation, under the id its platform gave it and no other, and with what is
// used once. What is wrong here is a message answered twice, or never.
import { DEDUPE_MS, type Inbound } from "@svc/contract";
import { keyOfConversation } from "@svc/kit";
import * as fc from "fast-check";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { arrivalOf, ReceivedRequest } from "../src/routes/channel-ingress.ts";

const conversation = { channel: "provider_a", id: "room", thread: "t" };
const inbound = (rest: Partial<Inbound> = {}): Inbound => ({ conversation, sender: "s", text: "hi", ...rest });
const kept = (one: Inbound) => arrivalOf("provider_a", { inbound: [one] }, undefined)?.messages[0];

describe("a message", () => {
  test("is stored whole, under the key of its conversation", () => {
    const message = inbound({ id: "m1", senderName: "Ann", group: true, sentAtMs: 5, replyData: { x: [1] } });
    expect(kept(message)).toMatchObject({
      kind: "message",
      conversationKey: keyOfConversation(conversation),
      body: message,
    });
  });

  test.each<[string, Partial<Inbound>, unknown]>([
    ["its id, for eight days", { id: "m1" }, { key: "m1", forMs: DEDUPE_MS }],
    ["its id, for as long as it says", { id: "m1", dedupeMs: 600_000 }, { key: "m1", forMs: 600_000 }],
    ["its id and its number", { id: "m1", sequence: 0 }, { key: "m1", forMs: DEDUPE_MS, sequence: 0 }],
    ["an empty id", { id: "" }, { key: "", forMs: DEDUPE_MS }],
  ])("is told from its repetition by %s", (_what, rest, dedupe) => expect(kept(inbound(rest))?.dedupe).toEqual(dedupe));

  test("without an id is told from none, whatever else it says", () => {
    expect(kept(inbound({ sequence: 7, dedupeMs: 1 }))).not.toHaveProperty("dedupe");
  });

  test("may be a reaction", () => expect(kept(inbound({ kind: "reaction" }))?.kind).toBe("reaction"));
});

describe("a delivery", () => {
  test("with nothing in it is nothing to keep, but for what is used once", () => {
    for (const parsed of [{}, { inbound: [], notices: [], updates: [] }]) {
      expect(arrivalOf("c", parsed, undefined)).toBe(undefined);
      expect(arrivalOf("c", parsed, "random")).toEqual({ channel: "c", messages: [], once: "random" });
    }
  });

  test("keeps messages, notices and updates together, and what is used once with them", () => {
    const updates = [{ platformId: "p", status: "read" as const }];
    const notices = [{ id: "n1", queue: "box", body: { historyId: "9" } }];
    expect(arrivalOf("provider_a", { inbound: [inbound()], notices, updates }, "random")).toMatchObject({
      channel: "provider_a",
      once: "random",
      messages: [{ kind: "message" }, { kind: "notice", body: { historyId: "9" } }],
      updates,
    });
    expect(arrivalOf("c", { updates }, undefined)).toEqual({ channel: "c", messages: [], updates });
  });

  test("a notice has neither the key nor the id of a message", () => {
    const text = fc.oneof(fc.string(), fc.constantFrom("notice", "provider_a", "[", '","'));
    fc.assert(
      fc.property(text, text, text, text, (channel, id, queue, thread) => {
        const message = inbound({ id, conversation: { channel, id: queue, thread } });
        const notice = { id, queue, body: null };
        const [one, other] = arrivalOf(channel, { inbound: [message], notices: [notice] }, undefined)!.messages;
        expect([one!.conversationKey === other!.conversationKey, one!.dedupe!.key === other!.dedupe!.key]).toEqual([
          false,
          false,
        ]);
      }),
    );
  });
});

test("of a header that came twice the first counts, and no name is special", () => {
  const name = fc.oneof(
    fc.stringMatching(/^[A-Za-z-]{1,12}$/),
    fc.constantFrom("__proto__", "constructor", "Set-Cookie"),
  );
  const pair = fc.tuple(name, fc.string({ maxLength: 8 }));
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 12 }), (pairs) => {
      const incoming = new IncomingMessage(new Socket());
      incoming.rawHeaders = pairs.flat();
      const { headers } = new ReceivedRequest(incoming, "POST", Buffer.alloc(0), 0);
      const first = new Map(pairs.toReversed().map(([key, value]) => [key.toLowerCase(), value]));
      expect(new Map(Object.entries(headers))).toEqual(first);
      for (const other of ["toString", "hasownproperty", "x"]) expect(headers[other]).toBe(first.get(other));
    }),
  );
});
