/** The fake platform, and the official client that proves it. */
import { startTelegram, TELEGRAM_TOKEN, type TelegramPlatform } from "@svc/testkit/platforms/telegram/server";
import { telegramMessage } from "@svc/testkit/platforms/telegram/update";
import { Api, type GrammyError } from "grammy";
import { ADA, FORUM, GROUP, NOW_MS } from "./fixture.ts";

export async function opened(options: Parameters<typeof startTelegram>[0] = {}) {
  const platform = await startTelegram(options);
  platform.chats.add({ id: Number(ADA), type: "private", first_name: "Ada" });
  platform.chats.add(GROUP);
  platform.chats.add(FORUM);
  const api = new Api(TELEGRAM_TOKEN, { apiRoot: platform.apiUrl });
  return { platform, api, [Symbol.asyncDispose]: () => platform.close() };
}

/** As the platform says it. */
export const refusal = async (call: Promise<unknown>): Promise<unknown> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason as GrammyError,
  );
  return error && [error.error_code, error.description];
};

export const write = (platform: TelegramPlatform, id: string, text: string) =>
  platform.push({ message: telegramMessage({ id, text, from: ADA, atMs: NOW_MS }) });
