/** Commands from the platform's menu, presses on buttons, and reactions. */
import type { Clock, Inbound, Json, Prompt, SecretStore } from "@svc/contract";
import { parseJson } from "@svc/kit";
import {
  actorOf,
  CHANNEL,
  type Fields,
  fieldsOf,
  idOf,
  listOf,
  nameOf,
  numberOf,
  type Self,
  textOf,
  timeOfId,
  wordOf,
} from "./protocol.ts";

/**
 * Commands from the platform's menu, and presses on buttons. Each has a token by which it is answered, and three seconds for
 * a first answer.
 * https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object
 */
export interface Interaction {
  readonly id: string;
  readonly kind: "command" | "press";
  readonly applicationId: string;
  readonly token: string;
  readonly guildId: string | undefined;
  /** The message for the agent. */
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

/**
 * The two buttons of a question, and what a press on one hands back.
 * https://docs.discord.com/developers/components/reference#button
 */
const LABEL_CHARS = 80;

/** Undefined: there is no room for what they would say. */
export function buttonsOf({ id, approve, reject }: Prompt): Json | undefined {
  const fits = (label: string): boolean => label.trim() !== "" && label.length <= LABEL_CHARS;
  if (!fits(approve) || !fits(reject)) return undefined;
  const button = (style: number, label: string, answer: string): Json => ({
    type: BUTTON,
    style,
    label,
    custom_id: `${ID_START}${id}:${answer}`,
  });
  return [{ type: ACTION_ROW, components: [button(SUCCESS, approve, "yes"), button(DANGER, reject, "no")] }];
}

const ACTION_ROW = 1;
const BUTTON = 2;
const SUCCESS = 3;
const DANGER = 4;

const ID_START = "svc-prompt:";
const BUTTON_ID = new RegExp(`^${ID_START}([a-z0-9-]{1,32}):(yes|no)$`);

/** Undefined for a button of another's making. */
function choiceOfButton(customId: unknown): Inbound["choice"] {
  const [, prompt, answer] = BUTTON_ID.exec(typeof customId === "string" ? customId : "") ?? [];
  return prompt === undefined ? undefined : { prompt, approved: answer === "yes" };
}

/**
 * What a command is answered by: a token that is good for a quarter of an hour, and for one answer in the place that the
 * command made for it.
 * https://docs.discord.com/developers/interactions/receiving-and-responding#followup-messages
 */
export interface Answerable {
  readonly applicationId: string;
  readonly token: string;
}

export interface InteractionTokens {
  /** Resolves once it is on disk, where no one reads it. */
  keep(interactionId: string, answerable: Answerable): Promise<void>;
  /** For the first delivery that asks, and for it again; undefined: the answer is a message like any other. */
  claim(interactionId: string, deliveryId: string): Promise<Answerable | undefined>;
}

/** A minute less than the platform's limit, to allow for requests in flight. */
const LASTS_MS = 840_000;
const PREFIX = "interaction ";

export function interactionTokens(secrets: SecretStore, clock: Pick<Clock, "now">): InteractionTokens {
  const isOver = (interactionId: string): boolean => timeOfId(interactionId) + LASTS_MS < clock.now();
  return {
    async keep(interactionId, answerable) {
      const before = await secrets.list(PREFIX);
      await secrets.set(PREFIX + interactionId, JSON.stringify(answerable));
      for (const name of before) if (isOver(name.slice(PREFIX.length))) await secrets.delete(name);
    },
    async claim(interactionId, deliveryId) {
      if (isOver(interactionId)) return undefined;
      const text = await secrets.get(PREFIX + interactionId);
      const stored = fieldsOf(text === undefined ? undefined : parseJson(Buffer.from(text)));
      const [applicationId, token, by] = [
        textOf(stored["applicationId"]),
        textOf(stored["token"]),
        textOf(stored["by"]),
      ];
      if (applicationId === undefined || token === undefined || (by ?? deliveryId) !== deliveryId) return undefined;
      const answerable = { applicationId, token };
      if (by === undefined)
        await secrets.set(PREFIX + interactionId, JSON.stringify({ ...answerable, by: deliveryId }));
      return answerable;
    },
  };
}

// https://docs.discord.com/developers/events/gateway-events#message-reaction-add

/** Of what the bot wrote, and in direct messages of anything. Undefined for others', and for those of bots. */
export function reactionOf(self: Self, reaction: Fields): Inbound | undefined {
  const [sender, channelId] = [idOf(reaction["user_id"]), idOf(reaction["channel_id"])];
  const messageId = idOf(reaction["message_id"]);
  const emoji = wordOf(fieldsOf(reaction["emoji"])["name"]);
  if (sender === undefined || channelId === undefined || messageId === undefined || emoji === undefined)
    return undefined;
  const member = fieldsOf(reaction["member"]);
  const user = fieldsOf(member["user"]);
  if (sender === self.userId || user["bot"] === true) return undefined;
  const isOnServer = idOf(reaction["guild_id"]) !== undefined;
  if (isOnServer && reaction["message_author_id"] !== self.userId) return undefined;
  const name = nameOf(user, member);
  return {
    kind: "reaction",
    id: `reaction-${messageId}-${sender}-${idOf(fieldsOf(reaction["emoji"])["id"]) ?? emoji}`.slice(0, 512),
    conversation: { channel: CHANNEL, id: channelId },
    sender,
    ...(name !== undefined && { senderName: name }),
    ...(isOnServer && { group: true }),
    text: emoji,
  };
}
