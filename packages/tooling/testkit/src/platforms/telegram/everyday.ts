/** A bot and the people who write to it, as `EVERYDAY` has them. */
import { type EverydayOptions, type EverydayPlatform, listed, peopleBy } from "../everyday-platform.ts";
import { startTelegram, TELEGRAM_TOKEN } from "./server.ts";
import { privateChat, telegramMessage, telegramPress } from "./update.ts";

let telegramIds = 0;

export async function telegram(options: EverydayOptions = {}): Promise<EverydayPlatform> {
  const people = peopleBy((number) => String(5_551_001 + number), options);
  const person = people[0]!;
  const platform = await startTelegram();
  for (const one of people) platform.chats.add({ id: Number(one), type: "private", first_name: "Ada" });
  const write = (text: string, who: string = person): void => {
    const from = who === "stranger" ? "5559999" : who;
    const message = telegramMessage({
      id: String((telegramIds += 1)),
      from,
      text,
      atMs: Date.now(),
      chat: privateChat(from),
    });
    platform.push({ message });
  };
  return {
    id: "telegram",
    fake: platform,
    chat: person,
    person,
    people,
    chatOf: (one) => one,
    secrets: [TELEGRAM_TOKEN],
    requests: platform.requests,
    section: (keys = "") => `[channels_config.telegram]
bot_token = "${TELEGRAM_TOKEN}"
allowed_users = ${listed(people)}
api_url = "${platform.apiUrl}"
${keys}`,
    write,
    press(approved) {
      const question = platform.sent.at(-1)!;
      const data = question.callbackData[approved ? 0 : 1]!;
      const id = String((telegramIds += 1));
      platform.push({ callback_query: telegramPress({ id, from: person, data, message: platform.told(question) }) });
    },
    seen: () => platform.sent.map(({ chatId, text, buttons }) => ({ chat: String(chatId), text, buttons })),
    disturbances: {
      disconnect: () => platform.disconnect(),
      "empty answer": () => platform.expirePolls(),
      "conflict (409)": () => platform.pollElsewhere(),
    },
    // The next request gets it.
    handOverAgain: () => platform.waiting.length,
    close: () => platform.close(),
  };
}
