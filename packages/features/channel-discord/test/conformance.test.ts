// What every feature and every channel keeps, against a platform that takes only what its documents say.
import { channelConformance } from "@svc/testkit/conformance/channel-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { type Discord, startDiscord } from "@svc/testkit/platforms/discord/server";
import definition from "../src/index.ts";
import { PERSON, SECTION, STRANGER, TOKEN } from "./fixture.ts";

const root = `${import.meta.dirname}/..`;

featureConformance(definition, { root, config: SECTION });

/** Where messages are sent to. */
const channelOf = ({ world }: Discord): string => [...world.channels.values()].find(({ type }) => type === 0)!.id;

channelConformance(definition, {
  root,
  async platform() {
    const platform = await startDiscord({ token: TOKEN, heartbeatMs: 400 });
    for (const id of [PERSON, STRANGER]) platform.addUser({ id });
    platform.addChannel(platform.addGuild());
    return platform;
  },
  config: ({ apiUrl }) => ({ ...SECTION, api_url: apiUrl, allowed_users: [PERSON] }),
  conversation: (platform) => ({ id: channelOf(platform) }),
  idempotent: true,
  arrivals: {
    person: PERSON,
    stranger: STRANGER,
    write: (platform, { text, from, atMs }) => void platform.write({ from, text, atMs }),
    writeOwn: ({ write, directWith, world }, { text, atMs }) =>
      void write({ from: world.bot.id, channelId: directWith(PERSON).id, text, atMs }),
    press: (platform, { from, approved }) => void platform.press(from, approved ? "Approve" : "Reject"),
    disconnect: ({ gateway }) => gateway.disconnect(),
  },
  prompts: {},
  media: {
    file: ({ files, world }, bytes) => ({
      kind: "image",
      ref: String(files.attach(world.bot.id, { bytes, filename: "a.jpg", contentType: "image/jpeg" })["url"]),
      placeholder: "[image: a.jpg]",
      mimeType: "image/jpeg",
    }),
    leadingTo: (_, url) => ({ kind: "image", ref: url, placeholder: "[image]" }),
  },
});
