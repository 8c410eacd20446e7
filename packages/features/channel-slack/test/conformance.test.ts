// What every feature and every channel keeps, in both modes, against a platform that takes only what its documents say.
import {
  channelConformance,
  type ChannelSubject,
  type PlatformMessage,
  type Section,
} from "@svc/testkit/conformance/channel-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { slackDelivery, slackFormDelivery, slackSigned } from "@svc/testkit/platforms/slack/delivery";
import { slackMessageEvent, slackPress } from "@svc/testkit/platforms/slack/events";
import type { Slack } from "@svc/testkit/platforms/slack/server";
import { SLACK_BOT, slackDmOf } from "@svc/testkit/platforms/slack/workspace";
import definition from "../src/index.ts";
import { PERSON, platform, SECTION, STRANGER } from "./fixture.ts";

const root = `${import.meta.dirname}/..`;
const secretOf = (section: Section): string => String(section["signing_secret"]);

featureConformance(definition, { root, config: SECTION });

const common = {
  root,
  async platform() {
    const slack = await platform();
    slack.workspace.dm(PERSON);
    return slack;
  },
  conversation: () => ({ id: slackDmOf(PERSON) }),
  formats: true,
  // The platform recommends this many characters, and cuts at ten times as many.
  ownTextLimit: true,
  media: {
    file: (slack, bytes) => ({
      kind: "image",
      ref: slack.files.host(bytes, { name: "picture.png", mimetype: "image/png" }),
      placeholder: "[image: picture.png]",
    }),
    leadingTo: (slack, link) => ({
      kind: "image",
      ref: slack.files.host(new Uint8Array(1), { mimetype: "image/png", link }),
      placeholder: "[image]",
    }),
  },
} as const satisfies Partial<ChannelSubject<Slack>>;

channelConformance(definition, {
  ...common,
  config: ({ apiUrl }) => ({ ...SECTION, api_url: apiUrl }),
  prompts: {},
  arrivals: {
    person: PERSON,
    stranger: STRANGER,
    write: (slack, { text, from, atMs }) => void slack.write({ text, from, atMs }),
    writeOwn: (slack, { text, from, atMs }) => void slack.write({ text, from, atMs, own: true }),
    press: (slack, press) => slack.press(press),
    disconnect: (slack) => slack.socket.drop(),
  },
});

const delivered = (message: PlatformMessage, section: Section, event = {}) =>
  slackDelivery(secretOf(section), slackMessageEvent({ ...message, event }), message.atMs);

channelConformance(definition, {
  ...common,
  config: ({ apiUrl }) => ({ ...SECTION, mode: "events", api_url: apiUrl }),
  deliveries: {
    path: "/slack/events",
    person: PERSON,
    stranger: STRANGER,
    message: delivered,
    signed: (body, section, atMs) => slackSigned(secretOf(section), body, atMs),
    own: (message, section) => delivered(message, section, { user: SLACK_BOT.user, bot_id: SLACK_BOT.bot }),
    proves: "body",
    freshness: { by: "timestamp", windowMs: 300_000 },
  },
  prompts: {
    pressed({ sent }, { approved, ...press }, section) {
      const { channel, message } = sent.at(-1)!;
      const button = message.buttons[approved ? 0 : 1]!;
      const payload = slackPress({ ...press, channel, ts: message.ts, threadTs: message.threadTs, button });
      return slackFormDelivery(secretOf(section), { payload: JSON.stringify(payload) }, press.atMs);
    },
  },
});
