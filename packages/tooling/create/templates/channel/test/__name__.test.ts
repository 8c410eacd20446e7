// What every channel keeps, from a delivery at its door to a message on the platform; and how this one speaks to its own.
import { channelConformance, rawOf } from "@svc/testkit/conformance/channel-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { openChannel } from "@svc/testkit/open-channel";
import { expect, test } from "vitest";
import { create } from "../src/__name__.ts";
import definition from "../src/index.ts";
import { bodyOf, delivered, startChat, TOKEN } from "./platform.ts";

const root = `${import.meta.dirname}/..`;
const section = {
  api_url: "https://chat.example.org",
  token: TOKEN,
  signing_secret: "s-1",
  allowed_users: ["alice"],
};
const open = (changes: Partial<typeof section> = {}) => openChannel({ definition, create }, { ...section, ...changes });

featureConformance(definition, { root, config: section });

channelConformance(definition, {
  root,
  platform: startChat,
  config: ({ url }) => ({ ...section, api_url: url }),
  conversation: () => ({ id: "room-1" }),
  deliveries: {
    person: "alice",
    stranger: "mallory",
    message: (message, config) => delivered(bodyOf(message), config["signing_secret"], message.atMs),
    own: (message, config) => delivered(bodyOf(message, { from_bot: true }), config["signing_secret"], message.atMs),
    signed: (body, config, atMs) => delivered(body, config["signing_secret"], atMs),
    proves: "body",
    freshness: { by: "timestamp", windowMs: 300_000 },
  },
  idempotent: true,
});

test("one message is one authorized request with a key that is the same for every retry", async () => {
  await using platform = await startChat();
  const { channel } = open({ api_url: platform.url });
  const conversation = { channel: "__channel__", id: "room-1" };
  const receipt = await channel.send({ conversation, text: "Hello", deliveryId: "d-1" }, new AbortController().signal);
  expect(receipt).toEqual({ platformId: "m-1" });
  expect(platform.requests).toMatchObject([
    {
      method: "POST",
      path: "/messages",
      headers: { authorization: `Bearer ${TOKEN}`, "idempotency-key": "d-1" },
      json: { room: "room-1", text: "Hello" },
    },
  ]);
});

test.each([["1"], ["seven"], [1.5]])("an odd time (%j) loses no message", (sentAt) => {
  const {
    ingress: [door],
  } = open();
  const message = { id: "1", from: "alice", text: "Hello", atMs: 0 };
  const delivery = delivered(bodyOf(message, { sent_at_ms: sentAt }), section.signing_secret, 0);
  expect(door?.parse(rawOf(delivery, 0)).inbound).toMatchObject([{ id: "1", sender: "alice", text: "Hello" }]);
});
