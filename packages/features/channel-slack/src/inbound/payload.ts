/** What the platform hands over, by either way: an event in its wrapper, a press on a button, a command. */
import type { Inbound, Json } from "@svc/contract";
import { type Fields, fieldsOf, listOf } from "../fields.ts";
import { userId } from "../ids.ts";
import { commandOf } from "./command.ts";
import { messageOf } from "./message.ts";
import { pressOf } from "./press.ts";
import { reactionOf } from "./reaction.ts";
import type { Told } from "./told.ts";

/** Reads any JSON at all: what is of an unknown shape, or says nothing to an agent, is undefined. */
export function inboundOf(payload: Json, told: Told): Inbound | undefined {
  const fields = fieldsOf(payload);
  if (fields["type"] === "event_callback") return eventOf(fields, told);
  if (fields["type"] === "block_actions") return pressOf(fields, told);
  return typeof fields["command"] === "string" ? commandOf(fields, told) : undefined;
}

function eventOf(wrapper: Fields, told: Told): Inbound | undefined {
  const event = fieldsOf(wrapper["event"]);
  const bot = botIn(wrapper) ?? told.self.userId;
  switch (event["type"]) {
    case "message":
    case "app_mention":
      return messageOf(event, bot, told);
    case "reaction_added":
    case "reaction_removed":
      return reactionOf(event, bot, told);
    default:
      return undefined;
  }
}

/** Whom the event is for. */
function botIn(wrapper: Fields): string | undefined {
  const { is_bot: isBot, user_id: user } = fieldsOf(listOf(wrapper["authorizations"])[0]);
  return isBot === true ? userId(user) : undefined;
}
