// What this channel and nostr-tools agree on could be wrong in both: another implementation, in Rust, must read what we write and be read,
// on our relay and on its own, which demands to know who is there.
import { requireReal } from "@svc/testkit/require-real";
import { startRelaynet } from "@svc/testkit/platforms/relaynet/server";
import { expect, test } from "vitest";
import { npubOf } from "../src/config.ts";
import { AGENT, eventually, message, never, run } from "./fixture.ts";
import { missingRustClient, startRustPerson } from "./real/person.ts";

const RELAYS = ["a relay in JavaScript", "a relay in Rust that demands to know who is there"] as const;

test.for(RELAYS)("on %s", async (where, context) => {
  const missing = missingRustClient();
  if (missing) requireReal(context, missing);
  await using relay = await startRelaynet();
  await using person = await startRustPerson(where === RELAYS[0] ? relay.relay : undefined);
  const npub = npubOf(person.pubkey);
  await using running = await run({ relays: [person.relay], allowed_pubkeys: [npub] });
  const { channel, context: service } = running;
  await eventually(() => service.log.text().includes("the platform knows this channel"));

  for (const [at, protocol] of (["wrapped", "legacy"] as const).entries()) {
    const text = `Grüße, שלום, 👋🏽 — ${protocol}`;
    await person.write({ to: AGENT.pubkey, text, protocol });
    await eventually(() => service.received.length > at);
    const received = service.received[at]!;
    expect(received).toMatchObject({ sender: npub, text, replyData: { protocol } });

    const answer = message(`Antwort, תשובה, 🙂 — ${protocol}`, {
      conversation: received.conversation,
      ...(received.replyData !== undefined && { replyData: received.replyData }),
    });
    const { platformId } = await channel.send(answer, never);
    const read = await person.read();
    expect(read).toContainEqual(
      expect.objectContaining({ id: platformId, from: AGENT.pubkey, text: answer.text, protocol }),
    );
    expect(read).toHaveLength(at + 1);
  }
  const setup = await channel.setup({ url: "" }, never);
  expect(setup).toContain("on 1 of 1 relays");
  expect(await channel.check(never)).not.toContain("svc channels setup");
});
