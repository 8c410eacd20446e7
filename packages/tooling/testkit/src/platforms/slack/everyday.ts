/** An app and the people who write to it, as `EVERYDAY` has them. */
import { type EverydayOptions, type EverydayPlatform, listed, peopleBy } from "../everyday-platform.ts";
import { startSlack } from "./server.ts";
import { SLACK_BOT, slackDmOf } from "./workspace.ts";

let slackPresses = 0;

export async function slack(options: EverydayOptions = {}): Promise<EverydayPlatform> {
  const tokens = {
    botToken: "xoxb-12-34-bot-token-of-the-fixture",
    appToken: "xapp-1-A0APP-34-app-token-of-the-fixture",
  };
  const people = peopleBy((number) => `U0PERSON${number + 1}`, options);
  const person = people[0]!;
  const stranger = "U0STRANGE";
  const all = [...people.map((id) => ({ id, name: "ada", displayName: "Ada" })), { id: stranger, name: "eve" }];
  const platform = await startSlack({ ...tokens, people: all });
  for (const { id } of all) platform.workspace.dm(id);
  return {
    id: "slack",
    fake: platform,
    chat: slackDmOf(person),
    person,
    people,
    chatOf: slackDmOf,
    secrets: Object.values(tokens),
    requests: platform.requests,
    section: (keys = "") => `[channels_config.slack]
bot_token = "${tokens.botToken}"
app_token = "${tokens.appToken}"
allowed_users = ${listed(people)}
api_url = "${platform.apiUrl}"
${keys}`,
    write: (text, who = person) =>
      void platform.write({ text, from: who === "stranger" ? stranger : who, atMs: Date.now() }),
    press: (approved) =>
      platform.press({ from: person, approved, atMs: Date.now(), id: `press-${(slackPresses += 1)}` }),
    seen: () =>
      platform.sent
        .filter(({ message }) => message.user === undefined || message.user === SLACK_BOT.user)
        .map(({ channel, text, buttons }) => ({ chat: channel, text, buttons })),
    disturbances: {
      disconnect: () => platform.socket.drop(),
      // It ends the connection some seconds after it has asked.
      refresh: () => platform.socket.askToLeave("refresh_requested"),
      "refresh, and the end of the old one": () => {
        platform.socket.askToLeave("refresh_requested");
        platform.socket.dropOldest();
      },
      "warning of the end": () => platform.socket.askToLeave("warning"),
    },
    handOverAgain() {
      const { length } = platform.socket.waiting;
      platform.socket.sendAgain();
      return length;
    },
    close: () => platform.close(),
  };
}
