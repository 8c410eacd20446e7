// What every feature and every channel keeps, against a homeserver that takes only what the specification says.
import { channelConformance } from "@svc/testkit/conformance/channel-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { BOT, type MatrixPlatform, PERSON, startMatrix, STRANGER } from "@svc/testkit/platforms/matrix/server";
import type { Config } from "../src/config.ts";
import { create } from "../src/federated.ts";
import definition from "../src/index.ts";
import { memoryStore } from "./memory-store.ts";
import type { FeatureContext } from "@svc/contract";

const root = `${import.meta.dirname}/..`;
const TOKEN = "syt_c3Zj_0123456789abcdef";
const SECTION = {
  homeserver: "http://127.0.0.1:1",
  access_token: TOKEN,
  user_id: BOT,
  allowed_users: [PERSON],
};

featureConformance(definition, { root, config: SECTION });

/** One store of keys for each homeserver, as one home has one. */
const stores = new Map<string, ReturnType<typeof memoryStore>>();
const storeOf = (homeserver: string) => {
  const store = stores.get(homeserver) ?? memoryStore();
  stores.set(homeserver, store);
  return store;
};

const tested = {
  ...definition,
  load: async () => ({
    create: (context: FeatureContext<Config>) => create(context, { openStore: storeOf(context.config.homeserver) }),
  }),
};

const strangersRooms = new WeakMap<MatrixPlatform, string>();

channelConformance<MatrixPlatform & { apiUrl?: string }>(tested as typeof definition, {
  root,
  platform: () => startMatrix({ token: TOKEN }),
  config: ({ url }) => ({ ...SECTION, homeserver: url }),
  conversation: ({ room }) => ({ id: room }),
  formats: true,
  ownTextLimit: true,
  idempotent: true,
  arrivals: {
    person: PERSON,
    stranger: STRANGER,
    write(platform, { from, text, atMs }) {
      let roomId = platform.room;
      if (from !== PERSON) {
        roomId = strangersRooms.get(platform) ?? platform.world.addRoom([from, BOT]);
        strangersRooms.set(platform, roomId);
      }
      platform.write({ from, text, atMs, roomId });
    },
    writeOwn: (platform, { text, atMs }) => void platform.write({ from: BOT, text, atMs }),
    disconnect: (platform) => platform.disconnect(),
  },
  media: {
    file({ world }, bytes) {
      const id = `file${world.media.size}`;
      world.media.set(id, { bytes, mimeType: "image/jpeg" });
      return { kind: "image", ref: `mxc://${world.server}/${id}`, placeholder: "[image]", mimeType: "image/jpeg" };
    },
    leadingTo({ world }, url) {
      const id = `file${world.media.size}`;
      world.media.set(id, { bytes: new Uint8Array(1), mimeType: "image/jpeg", redirect: url });
      return { kind: "image", ref: `mxc://${world.server}/${id}`, placeholder: "[image]" };
    },
  },
});
