// One value that is not what the platform's documents say, wherever it is, must be no error, which would be delivered again, and no
// message that can't be kept or answered.
import type { Json } from "@svc/contract";
import { everyAlteration, flawOf } from "@svc/testkit/conformance/channel-conformance";
import {
  slackCommand,
  slackEvent,
  slackMention,
  slackMessageEvent,
  slackPress,
} from "@svc/testkit/platforms/slack/events";
import { SLACK_BOT } from "@svc/testkit/platforms/slack/workspace";
import { expect, test } from "vitest";
import { fixture, ingressAt, NOW_MS, PERSON, posted } from "./fixture.ts";

const ingress = ingressAt(fixture({ mode: "events", mention_only: false }));
const flawIn = (payload: unknown): string | undefined =>
  flawOf(ingress.parse(posted(JSON.stringify(payload))), "slack");

const said = {
  id: "1780272000.000100",
  text: `<@${SLACK_BOT.user}> Look <https://example.org|here>`,
  from: PERSON,
  atMs: NOW_MS,
};
const files: Json[] = [{ id: "F0FILE123", name: "a.png", mimetype: "image/png", mode: "hosted", is_external: false }];
const payloads: Record<string, Json> = {
  message: slackMessageEvent({ ...said, files, threadTs: "1780271000.000100" }),
  shared: slackMessageEvent({
    ...said,
    event: { attachments: [{ is_share: true, text: "x", author_name: "Bob" }], user_profile: { display_name: "Ada" } },
  }),
  mention: slackMention({ ...said, channel: "C0GENERAL" }),
  reaction: slackEvent(
    {
      type: "reaction_added",
      user: PERSON,
      reaction: "eyes",
      item: { type: "message", channel: "C0GENERAL", ts: said.id },
      event_ts: said.id,
    },
    NOW_MS,
  ),
  press: slackPress({
    from: PERSON,
    channel: "C0GENERAL",
    ts: said.id,
    atMs: NOW_MS,
    id: "p",
    button: { label: "Approve", actionId: "svc-approve", blockId: "b", value: "svc-prompt:ap-1:yes" },
  }),
  command: slackCommand({ from: PERSON, command: "/svc", text: "new", id: "c" }),
  challenge: { type: "url_verification", token: "x", challenge: "3eZbrw1aB" },
};

test.each(Object.keys(payloads))("%s", (name) => {
  let count = 0;
  for (const altered of everyAlteration(payloads[name]!)) {
    expect(flawIn(altered)).toBeUndefined();
    count += 1;
  }
  expect(count).toBeGreaterThan(40);
});
