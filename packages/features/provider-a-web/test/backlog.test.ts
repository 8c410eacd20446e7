// Answers to the first messages of a backlog are sent while the rest still comes: a session that the device has begun anew meanwhile must
// not be changed by messages that are of the one before. The phone could not read anything that is sent by it.
import { expect, test } from "vitest";
import { linkedSecrets, open, sectionOf, until } from "./fixture.ts";
import { OWNER, PERSON, startWebPlatform, STRANGER } from "@svc/testkit/platforms/provider-a-web/server";

const NEVER = new AbortController().signal;
const toAda = { channel: "provider_a", id: PERSON };

test("a message of an older session leaves the newer one as it is", async () => {
  await using platform = await startWebPlatform();
  const secrets = await linkedSecrets(platform);
  const talk = async (texts: readonly string[], deliveryIds: readonly string[]): Promise<void> => {
    await using opened = open(sectionOf(platform), secrets);
    opened.start();
    for (const text of texts) await platform.write({ from: PERSON, text });
    await until(() => opened.context.received.length === texts.length, "the messages are received");
    for (const deliveryId of deliveryIds) {
      await opened.channel.send({ conversation: toAda, text: deliveryId, deliveryId }, NEVER);
    }
  };
  await talk(["Hello"], ["one"]);

  await using opened = open(sectionOf(platform), secrets);
  opened.start();
  // The first send of a connection begins a session; what Ada writes before she has read it is of the one before.
  const held = platform.hold();
  const sending = opened.channel.send({ conversation: toAda, text: "two", deliveryId: "two" }, NEVER);
  await held.arrived;
  await platform.write({ from: PERSON, text: "Are you there?" });
  await until(() => opened.context.received.length === 1, "the message is received");
  held.release();
  await sending;
  await opened.channel.send({ conversation: toAda, text: "three", deliveryId: "three" }, NEVER);
  expect(platform.broken).toEqual([]);
  expect(platform.seen.filter(({ by }) => by === PERSON).map(({ text }) => text)).toEqual(["one", "two", "three"]);
});

test("what comes while the backlog is read is heard after it, in a group too", async () => {
  await using platform = await startWebPlatform();
  const secrets = await linkedSecrets(platform);
  const section = sectionOf(platform, { allowed_numbers: [PERSON, STRANGER] });
  const contextInfo = { mentionedJid: [platform.person(OWNER).lid] };
  const written: string[] = [];
  const write = async (from: string): Promise<void> => {
    const text = `message ${written.length}`;
    written.push(text);
    await platform.write({ from, group: true, content: { extendedTextMessage: { text, contextInfo } } });
  };
  // The first of them has the key of its sender for the group.
  for (let count = 0; count < 20; count += 1) await write(count % 2 === 0 ? PERSON : STRANGER);
  await using opened = open(section, secrets);
  opened.start();
  await until(() => platform.isConnected, "it is connected");
  for (let count = 0; count < 20; count += 1) await write(count % 3 === 0 ? PERSON : STRANGER);
  await until(() => opened.context.received.length + platform.retries >= written.length, "the messages are received");
  expect(platform.retries).toBe(0);
  expect(opened.context.received.map(({ text }) => text)).toEqual(written);
});
