/**
 * Commands from the platform's menu, and presses on buttons. Each has a token by which it is answered, and three seconds for
 * a first answer.
 * https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object
 */
import type { Inbound } from "@svc/contract";
import { type Fields, fieldsOf, listOf, numberOf, textOf, wordOf } from "../api/fields.ts";
import { idOf, timeOfId } from "../api/snowflake.ts";
import { CHANNEL } from "../names.ts";
import { choiceOfButton } from "../outbound/buttons.ts";
import { actorOf, nameOf } from "./people.ts";

export interface Interaction {
  readonly id: string;
  readonly kind: "command" | "press";
  readonly applicationId: string;
  readonly token: string;
  readonly guildId: string | undefined;
  /** What it says to the agent. */
  readonly inbound: Inbound;
}

/** Undefined for what another program has put there, and for kinds that nothing of ours leads to. */
export function interactionOf(event: Fields): Interaction | undefined {
  const [id, applicationId, token] = [idOf(event["id"]), idOf(event["application_id"]), textOf(event["token"])];
  const channelId = idOf(event["channel_id"]) ?? idOf(fieldsOf(event["channel"])["id"]);
  const { user, member } = actorOf(event);
  const sender = idOf(user["id"]);
  // It becomes a part of a path.
  const isToken = token !== undefined && /^[\w.-]{1,2000}$/.test(token) && !/^\.+$/.test(token);
  if (id === undefined || applicationId === undefined || !isToken) return undefined;
  if (channelId === undefined || sender === undefined || user["bot"] === true) return undefined;
  const said = contentOf(numberOf(event["type"]), event, id);
  if (said === undefined) return undefined;
  const guildId = idOf(event["guild_id"]);
  const name = nameOf(user, member);
  const { kind, ...content } = said;
  return {
    id,
    kind,
    applicationId,
    token,
    guildId,
    inbound: {
      // A message may have the same number.
      id: `interaction-${id}`,
      conversation: { channel: CHANNEL, id: channelId },
      sender,
      ...(name !== undefined && { senderName: name }),
      ...(guildId !== undefined && { group: true }),
      ...content,
      sentAtMs: timeOfId(id),
    },
  };
}

type Content = Pick<Interaction, "kind"> & Pick<Inbound, "text" | "choice" | "replyData">;

function contentOf(type: number | undefined, event: Fields, id: string): Content | undefined {
  const data = fieldsOf(event["data"]);
  if (type === APPLICATION_COMMAND) {
    const name = wordOf(data["name"]);
    const value = textOf(fieldsOf(listOf(data["options"])[0])["value"])?.trim();
    if (name === undefined || numberOf(data["type"]) !== CHAT_INPUT) return undefined;
    const text = value === undefined ? `/${name}` : `/${name} ${value}`;
    return { kind: "command", text, replyData: { interaction: id } };
  }
  if (type !== MESSAGE_COMPONENT) return undefined;
  const choice = choiceOfButton(data["custom_id"]);
  if (choice === undefined) return undefined;
  const message = fieldsOf(event["message"]);
  const [messageId, guildId] = [idOf(message["id"]), idOf(event["guild_id"])];
  const text = labelOf(message, data["custom_id"]) ?? (choice.approved ? "Approve" : "Reject");
  const replyData = messageId !== undefined && guildId !== undefined ? { replyData: { messageId } } : {};
  return { kind: "press", text, choice, ...replyData };
}

const APPLICATION_COMMAND = 2;
const CHAT_INPUT = 1;
const MESSAGE_COMPONENT = 3;

const labelOf = (message: Fields, customId: unknown): string | undefined =>
  listOf(message["components"])
    .flatMap((row) => listOf(fieldsOf(row)["components"]))
    .map(fieldsOf)
    .flatMap((button) => (button["custom_id"] === customId ? (wordOf(button["label"]) ?? []) : []))[0];
