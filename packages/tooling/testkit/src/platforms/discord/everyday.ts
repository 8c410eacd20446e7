/** A bot and the people who write to it, as `EVERYDAY` has them. */
import { type EverydayOptions, type EverydayPlatform, listed, peopleBy } from "../everyday-platform.ts";
import { startDiscord } from "./server.ts";

export async function discord(options: EverydayOptions = {}): Promise<EverydayPlatform> {
  const token = "MTA4MDAwMDAwMDAwMDAwMDAwMQ.GabcdE.bot-token-of-the-fixture";
  const people = peopleBy((number) => String(200_000_000_000_000_001n + BigInt(number)), options);
  const person = people[0]!;
  const stranger = "200000000000999999";
  const platform = await startDiscord({ token, nowMs: Date.now() });
  for (const id of [...people, stranger]) platform.addUser({ id });
  const room = platform.directWith(person);
  return {
    id: "discord",
    fake: platform,
    chat: room.id,
    person,
    people,
    chatOf: (one) => platform.directWith(one).id,
    secrets: [token],
    requests: platform.requests,
    section: (keys = "") => `[channels_config.discord]
bot_token = "${token}"
allowed_users = ${listed(people)}
api_url = "${platform.apiUrl}"
${keys}`,
    write: (text, who = person) =>
      void platform.write({ from: who === "stranger" ? stranger : who, text, atMs: Date.now() }),
    press: (approved) => void platform.press(person, platform.sent.at(-1)!.buttons![approved ? 0 : 1]!),
    seen: () => platform.sent.map(({ channelId, text, buttons }) => ({ chat: channelId, text, buttons })),
    disturbances: {
      disconnect: () => platform.gateway.disconnect(),
      "op 7 (reconnect)": () => platform.gateway.send({ op: 7, d: null }),
      "op 9 (invalid session)": () => {
        platform.gateway.forgetSessions();
        platform.gateway.send({ op: 9, d: false });
      },
      "close 4000": () => platform.gateway.disconnect(4000),
      "sessions forgotten": () => {
        platform.gateway.forgetSessions();
        platform.gateway.disconnect();
      },
    },
    // What is told is told; the rest is in the history.
    handOverAgain: () => 0,
    close: () => platform.close(),
  };
}
