// What every feature and every channel keeps, by polling and by webhook, against a platform that takes only what its documents say.
import {
  type ButtonPress,
  channelConformance,
  type ChannelSubject,
  type PlatformMessage,
  type Section,
} from "@svc/testkit/conformance/channel-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { startTelegram, TELEGRAM_TOKEN, type TelegramPlatform } from "@svc/testkit/platforms/telegram/server";
import {
  postedByTelegram,
  privateChat,
  telegramDelivery,
  telegramMessage,
  telegramPress,
} from "@svc/testkit/platforms/telegram/update";
import definition from "../src/index.ts";

const root = `${import.meta.dirname}/..`;
const PERSON = "5551001";
const STRANGER = "5551999";

const SECTION = { bot_token: TELEGRAM_TOKEN, allowed_users: [PERSON], webhook_secret: "whsec_Telegram-0123456789" };

featureConformance(definition, { root, config: SECTION });

const own = (platform: Pick<TelegramPlatform, "bot">, { id, text, atMs }: PlatformMessage) => ({
  message: telegramMessage({
    id,
    text,
    atMs,
    from: String(platform.bot.id),
    user: { is_bot: true, username: "svc_bot" },
    chat: privateChat(PERSON),
  }),
});

/** On the button of the question that was posted last. */
const pressed = (platform: TelegramPlatform, { id, from, approved }: Omit<ButtonPress, "atMs">) => {
  const question = platform.sent.at(-1)!;
  const data = question.callbackData[approved ? 0 : 1]!;
  return { callback_query: telegramPress({ id, from, data, message: platform.told(question) }) };
};

const secretOf = (section: Section): string => String(section["webhook_secret"]);

const common = {
  root,
  async platform() {
    const platform = await startTelegram();
    platform.chats.add({ id: Number(PERSON), type: "private", first_name: "Ada" });
    return platform;
  },
  conversation: () => ({ id: PERSON }),
  formats: true,
  media: {
    file: ({ files }, bytes) => ({
      kind: "image",
      ref: files.host(bytes),
      placeholder: "[image]",
      mimeType: "image/jpeg",
    }),
    leadingTo: ({ files }, url) => ({ kind: "image", ref: files.host(new Uint8Array(1), url), placeholder: "[image]" }),
  },
} as const satisfies Partial<ChannelSubject<TelegramPlatform>>;

channelConformance<TelegramPlatform>(definition, {
  ...common,
  config: ({ apiUrl }) => ({ ...SECTION, mode: "polling", api_url: apiUrl }),
  prompts: {},
  arrivals: {
    person: PERSON,
    stranger: STRANGER,
    write: (platform, message) => void platform.push({ message: telegramMessage(message) }),
    writeOwn: (platform, message) => void platform.push(own(platform, message)),
    press: (platform, press) => void platform.push(pressed(platform, press)),
    disconnect: (platform) => platform.disconnect(),
  },
});

channelConformance<TelegramPlatform>(definition, {
  ...common,
  config: ({ apiUrl }) => ({ ...SECTION, mode: "webhook", api_url: apiUrl }),
  prompts: {
    pressed: (platform, press, section) =>
      telegramDelivery({ update_id: 1, ...pressed(platform, press) }, secretOf(section)),
  },
  deliveries: {
    person: PERSON,
    stranger: STRANGER,
    message: (message, section) =>
      telegramDelivery({ update_id: 1, message: telegramMessage(message) }, secretOf(section)),
    own: (message, section) =>
      telegramDelivery(
        { update_id: 1, ...own({ bot: { id: 123456789, username: "svc_bot", name: "Helper" } }, message) },
        secretOf(section),
      ),
    signed: (body, section) => postedByTelegram(body, secretOf(section)),
    proves: "sender",
    freshness: { by: "age" },
  },
});
