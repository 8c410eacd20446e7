/** https://docs.slack.dev/interactivity/implementing-slash-commands */
import type { Inbound } from "@svc/contract";
import { type Fields, textOf, wordOf } from "../fields.ts";
import { conversationId, userId } from "../ids.ts";
import { decoded } from "./decode.ts";
import { conversationIn } from "./message.ts";
import type { Told } from "./told.ts";

/** What every channel of ours knows as `/new` and the like. */
const COMMANDS: ReadonlySet<string> = new Set(["new", "model", "status", "help", "stop"]);

/**
 * `/svc new` and `/new` are `/new`, whatever the app calls its command; anything else after it is a message. Without a word it is
 * a question for help.
 */
export function commandOf(fields: Fields, { people, mayWrite }: Told): Inbound | undefined {
  const name = wordOf(fields["command"])?.replace(/^\//, "").toLowerCase();
  const sender = userId(fields["user_id"]);
  const channel = conversationId(fields["channel_id"]);
  const trigger = wordOf(fields["trigger_id"]);
  if (name === undefined || sender === undefined || channel === undefined || !mayWrite(sender)) return undefined;
  const said = decoded(textOf(fields["text"]) ?? "", people.nameOf).trim();
  const known = people.nameOf(sender) ?? wordOf(fields["user_name"]);
  return {
    // The platform does not number commands; each has a trigger of its own.
    ...(trigger !== undefined && { id: `command:${trigger}` }),
    conversation: conversationIn(channel, undefined),
    sender,
    ...(known !== undefined && { senderName: known }),
    ...(!channel.startsWith("D") && { group: true }),
    text: textFor(name, said),
  };
}

function textFor(name: string, said: string): string {
  if (COMMANDS.has(name)) return said === "" ? `/${name}` : `/${name} ${said}`;
  if (said === "") return "/help";
  const [first = ""] = said.split(/\s/, 1);
  return COMMANDS.has(first.toLowerCase().replace(/^\//, "")) ? `/${said.replace(/^\//, "")}` : said;
}
