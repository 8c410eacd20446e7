// Who a channel's people are: the same after every restart, and no two of them ever one, whatever their platforms call them.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ANONYMOUS, channelIdentity, limitedClient, mintAnonymousId, mintClientId } from "../src/identity.ts";

test("is the same in every process, and of the form that every other identity has", () => {
  const { channel, sender } = channelIdentity();
  expect(channel("provider_a")).toBe("kxCvv4aJ9KdfFXDmhrmsIQ");
  expect(sender("provider_a", "+4911")).toBe(channelIdentity().sender("provider_a", "+4911"));
  for (const id of [channel("a"), sender("a", "b"), mintClientId()]) expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/);
  expect(sender("provider_a", "+4911")).not.toContain("4911");
});

test("no two channels, senders, or channel and sender are one", () => {
  const { channel, sender } = channelIdentity();
  const name = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("", "channel", "sender", '","', "a", "ab", "b"));
  fc.assert(
    fc.property(name, name, name, name, (a, b, c, d) => {
      const isSame = a === c && b === d;
      expect(sender(a, b) === sender(c, d)).toBe(isSame);
      expect(channel(a) === channel(c)).toBe(a === c);
      expect([sender(a, b), sender(a, a), ANONYMOUS]).not.toContain(channel(a));
    }),
    { examples: [["a", "b", "ab", ""]] },
  );
});

test("callers without a token count together against limits, at a connection or in a queue; all others by themselves", () => {
  const { sender, channel, ofSession } = channelIdentity();
  const callers = [mintAnonymousId(), mintAnonymousId(), ofSession(ANONYMOUS, "turn").clientId];
  expect(new Set(callers).size).toBe(3);
  expect(callers.map(limitedClient)).toEqual([ANONYMOUS, ANONYMOUS, ANONYMOUS]);
  const others = [mintClientId(), sender("a", "anonymous."), channel("anonymous.")];
  expect(others.map(limitedClient)).toEqual(others);
});
