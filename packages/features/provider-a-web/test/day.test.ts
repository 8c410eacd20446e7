// The real library against the fake platform: linked by a code, it takes messages, answers, reconnects, and is linked anew.
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { expect, test } from "vitest";
import { codeIn } from "@svc/testkit/platforms/provider-a-web/camera";
import { open, sectionOf, until } from "./fixture.ts";
import {
  OWNER,
  PERSON,
  startWebPlatform,
  STRANGER,
  type WebPlatform,
} from "@svc/testkit/platforms/provider-a-web/server";

const NEVER = new AbortController().signal;

async function link(platform: WebPlatform, secrets = memorySecrets()) {
  await using opened = open(sectionOf(platform), secrets);
  const linking = opened.channel.linking!;
  await linking.begin(NEVER);
  await until(async () => (await linking.state(NEVER)).stage === "scan", "a code is shown");
  platform.scan(await shownCode(opened));
  await until(async () => (await linking.state(NEVER)).stage === "done", "the account is linked");
  expect(await linking.state(NEVER)).toEqual({ stage: "done", account: OWNER });
  expect(opened.refreshed()).toBe(1);
  return secrets;
}

async function shownCode({ channel }: ReturnType<typeof open>): Promise<string> {
  const state = await channel.linking!.state(NEVER);
  if (state.stage !== "scan") throw new Error("no code is shown");
  return codeIn(state.qr);
}

test("links by a QR code, receives, answers, and reads nothing of a stranger", async () => {
  await using platform = await startWebPlatform();
  const secrets = await link(platform);
  await using opened = open(sectionOf(platform), secrets);
  opened.start();
  await platform.write({ from: PERSON, text: "Hello" });
  await platform.write({ from: STRANGER, text: "Let me in" });
  await platform.write({ from: PERSON, text: "Are you there?" });
  await until(() => opened.context.received.length === 2, "two messages are received");
  expect(
    opened.context.received.map(({ text, sender, conversation }) => ({ text, sender, id: conversation.id })),
  ).toEqual([
    { text: "Hello", sender: PERSON, id: PERSON },
    { text: "Are you there?", sender: PERSON, id: PERSON },
  ]);
  const conversation = { channel: "provider_a", id: PERSON };
  const receipt = await opened.channel.send({ conversation, text: "Yes", deliveryId: "one" }, NEVER);
  expect(receipt.platformId).toMatch(/^3EB0[0-9A-F]{18}$/);
  await opened.channel.send({ conversation, text: "Again", deliveryId: "two" }, NEVER);
  expect(platform.seen.filter(({ by }) => by === PERSON).map(({ text }) => text)).toEqual(["Yes", "Again"]);
  expect({ broken: platform.broken, violations: platform.violations, retries: platform.retries }).toEqual({
    broken: [],
    violations: [],
    retries: 0,
  });
});
