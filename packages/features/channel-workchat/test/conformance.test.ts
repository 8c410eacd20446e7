// What every feature and every channel keeps: both sections, by long connection and by callback, against a platform that takes only
// what its documents say.
import type { FeatureDefinition } from "@svc/contract";
import { channelConformance, type ChannelSubject, type Section } from "@svc/testkit/conformance/channel-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { workchatDelivery, workchatSealed, workchatSigned } from "@svc/testkit/platforms/workchat/delivery";
import {
  WORKCHAT_APP,
  type WorkchatMessage,
  workchatMessageEvent,
  workchatPress,
} from "@svc/testkit/platforms/workchat/events";
import type { Workchat } from "@svc/testkit/platforms/workchat/server";
import definitions from "../src/index.ts";
import { DM, PERSON, platform, SECTION, STRANGER, WORKCHAT, WORKCHAT_CN } from "./fixture.ts";

const root = `${import.meta.dirname}/..`;

featureConformance(definitions, { root, config: SECTION });

const keyOf = (section: Section): string => String(section["encrypt_key"]);
const tokenOf = (section: Section): string => String(section["verification_token"]);
const OWN = { sender_type: "app", sender_id: { open_id: WORKCHAT_APP.bot } };

const common = {
  root,
  platform,
  conversation: () => ({ id: DM }),
  formats: true,
  // The platform counts bytes of the card.
  ownTextLimit: true,
  idempotent: true,
  media: {
    file: (workchat, bytes) => ({ kind: "image", ref: workchat.host(bytes), placeholder: "[image]" }),
    leadingTo: (workchat, link) => ({
      kind: "image",
      ref: workchat.host(new Uint8Array(1), { link }),
      placeholder: "[image]",
    }),
  },
} as const satisfies Partial<ChannelSubject<Workchat>>;

const SECTIONS: readonly (readonly [FeatureDefinition, path: string, other: string])[] = [
  [WORKCHAT as unknown as FeatureDefinition, "/workchat", "/workchat-cn"],
  [WORKCHAT_CN as unknown as FeatureDefinition, "/workchat-cn", "/workchat"],
];

for (const [definition, path, other] of SECTIONS) {
  channelConformance<Workchat>(definition, {
    ...common,
    pathsOfOtherParts: [other],
    config: ({ url }) => ({ ...SECTION, api_url: url }),
    prompts: {},
    arrivals: {
      person: PERSON,
      stranger: STRANGER,
      write: (workchat, written) => void workchat.write(written),
      writeOwn: (workchat, written) => void workchat.write({ ...written, chat: DM, kind: "p2p", sender: OWN }),
      press: (workchat, press) => workchat.press(press),
      disconnect: (workchat) => workchat.socket.drop(),
    },
  });

  const delivered = (written: WorkchatMessage, section: Section) =>
    workchatDelivery(workchatMessageEvent({ ...written, token: tokenOf(section) }), keyOf(section), written.atMs);

  channelConformance<Workchat>(definition, {
    ...common,
    pathsOfOtherParts: [other],
    config: ({ url }) => ({ ...SECTION, receive_mode: "webhook", api_url: url }),
    deliveries: {
      path,
      person: PERSON,
      stranger: STRANGER,
      message: delivered,
      own: (written, section) => delivered({ ...written, chat: DM, kind: "p2p", sender: OWN }, section),
      signed: (body, section, atMs) => workchatSigned(workchatSealed(body, keyOf(section)), keyOf(section), atMs),
      proves: "body",
      freshness: { by: "timestamp", windowMs: 300_000 },
    },
    prompts: {
      pressed({ sent }, { approved, ...press }, section) {
        const { chat, id, values } = sent.at(-1)!;
        const value = values[approved ? 0 : 1]!;
        const payload = workchatPress({ ...press, chat, message: id, value, token: tokenOf(section) });
        return workchatDelivery(payload, keyOf(section), press.atMs);
      },
    },
  });
}
