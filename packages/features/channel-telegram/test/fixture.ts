/** The channel as the tests set it up, and its platform. */
import {
  type Channel,
  type Contributions,
  type Inbound,
  type OutgoingMessage,
  type Parsed,
  SvcError,
} from "@svc/contract";
import { rawOf, type Section } from "@svc/testkit/conformance/channel-conformance";
import type { FakeFeatureContext } from "@svc/testkit/feature-context";
import { openChannel } from "@svc/testkit/open-channel";
import {
  startTelegram,
  TELEGRAM_TOKEN,
  type TelegramOptions,
  type TelegramPlatform,
} from "@svc/testkit/platforms/telegram/server";
import { telegramDelivery, telegramMessage } from "@svc/testkit/platforms/telegram/update";
import type { Config } from "../src/config.ts";
import definition from "../src/index.ts";
import { create } from "../src/telegram.ts";

export const ADA = "5551001";
export const STRANGER = "5551999";
export const SECRET = "whsec_Telegram-0123456789";
export const SECTION = {
  bot_token: TELEGRAM_TOKEN,
  allowed_users: [ADA],
  webhook_secret: SECRET,
} as const;

/** When the tests play. */
export const NOW_MS = Date.UTC(2026, 5, 1, 12);

export const never: AbortSignal = new AbortController().signal;

export const GROUP = { id: -1_001_234_567_890, type: "supergroup", title: "Garden" } as const;
export const FORUM = { ...GROUP, id: -1_009_876_543_210, is_forum: true, topics: [12, 40] } as const;

export interface Fixture {
  readonly context: FakeFeatureContext<Config>;
  readonly channel: Channel &
    Required<Pick<Channel, "typing" | "readMarks" | "drafts" | "media" | "prompts" | "check" | "setup">>;
  readonly made: Contributions & Required<Pick<Contributions, "run" | "register">>;
  /** Of an update that is posted, in webhook mode. */
  parsed(update: Readonly<Record<string, unknown>>): Parsed;
}

type Given = Parameters<typeof openChannel<Config>>[2];

/** `section`: what is different in it; `undefined` takes a key away. */
export function fixture(section: Section = {}, given: Given = {}): Fixture {
  const opened = openChannel<Config>({ definition, create }, { ...SECTION, ...section }, { nowMs: NOW_MS, ...given });
  const { context, channel, made, ingress } = opened;
  return {
    context,
    channel,
    made,
    parsed(update) {
      const delivery = telegramDelivery({ update_id: 7, ...update } as never, SECRET);
      return ingress[0]!.parse(rawOf(delivery, NOW_MS, "/telegram"));
    },
  } as Fixture;
}

export interface FixtureAndPlatform extends Fixture, AsyncDisposable {
  readonly platform: TelegramPlatform;
}

/** With a platform on which Ada and two groups are known. */
export async function fixtureAndPlatform(
  section: Section = {},
  { given = {}, ...options }: TelegramOptions & { readonly given?: Given } = {},
): Promise<FixtureAndPlatform> {
  const platform = await startTelegram(options);
  platform.chats.add({ id: Number(ADA), type: "private", first_name: "Ada" });
  platform.chats.add(GROUP);
  platform.chats.add(FORUM);
  const made = fixture({ api_url: platform.apiUrl, ...section }, given);
  return { ...made, platform, [Symbol.asyncDispose]: () => platform.close() };
}

/** In webhook mode, with the bot's name known. */
export async function posted(section: Section = {}): Promise<Fixture> {
  const one = fixture({ mode: "webhook", ...section }, { state: named() });
  await one.made.register(never);
  return one;
}

/** What an earlier process has found out. */
function named(): FakeFeatureContext<Config>["state"] {
  const kept = new Map([["bot", JSON.stringify({ id: TELEGRAM_TOKEN.split(":")[0], username: "svc_bot" })]]);
  return {
    get: async (name) => kept.get(name),
    set: async (name, value) => void kept.set(name, value),
    delete: async (name) => kept.delete(name),
    list: async () => [...kept.keys()],
  };
}

export const said = (text: string | undefined, more: Partial<Parameters<typeof telegramMessage>[0]> = {}) => ({
  message: telegramMessage({ id: "1", from: ADA, atMs: NOW_MS, ...(text !== undefined && { text }), ...more }),
});

/** The only message in it. */
export function only({ inbound = [] }: Parsed): Inbound {
  if (inbound.length !== 1) throw new Error(`there are ${inbound.length} messages`);
  return inbound[0]!;
}

export const message = (text: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  conversation: { channel: "telegram", id: ADA },
  text,
  deliveryId: "delivery-1",
  ...more,
});

/** What something that has to fail fails with. */
export async function failure(work: Promise<unknown>): Promise<SvcError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SvcError)) throw new Error(`no SvcError: ${String(error)}`);
  return error;
}
