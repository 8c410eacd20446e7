/**
 * Questions with reply buttons. The platform can't remove buttons: a press on a settled question gets an answer that says so.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/interactive-reply-buttons-messages
 */
import type { Channel, Inbound, Json, Prompt, Prompts } from "@svc/contract";
import type { GraphApi } from "./graph.ts";
import { type Fields, isGroupId, wordOf } from "./protocol.ts";
import { commonFields, receiptOf } from "./send.ts";

const BODY_CHARS = 1024;
const TITLE_CHARS = 20;

/** `send`: for a question without room for buttons, and for groups, which have none. */
export function promptPoster(graph: GraphApi, phoneNumberId: string, send: Channel["send"]): Prompts {
  return {
    async post(message, prompt, signal) {
      signal.throwIfAborted();
      // The words, with who asks and by which number: there is nothing else around a title that a stranger may have chosen.
      const { text } = message;
      if (!hasRoom(text, prompt) || isInGroup(message.conversation.id)) return send(message, signal);
      const content = { type: "interactive", interactive: buttonsOf(text, prompt) };
      const answer = await graph.post(`${phoneNumberId}/messages`, { ...commonFields(message), ...content }, signal);
      return receiptOf(answer, message.conversation);
    },
  };
}

function hasRoom(body: string, { approve, reject }: Prompt): boolean {
  const fits = (label: string): boolean => label.trim() !== "" && label.length <= TITLE_CHARS;
  // Two buttons of one title are refused.
  return body.length <= BODY_CHARS && fits(approve) && fits(reject) && approve !== reject;
}

/** A number of twenty digits is long enough for a group's id. */
const isInGroup = (id: string): boolean => isGroupId(id) && !/^\+?\d+$/.test(id);

const buttonsOf = (text: string, { id, approve, reject }: Prompt): Json => ({
  type: "button",
  body: { text },
  action: {
    buttons: [
      { type: "reply", reply: { id: `${ID_START}${id}:yes`, title: approve } },
      { type: "reply", reply: { id: `${ID_START}${id}:no`, title: reject } },
    ],
  },
});

const ID_START = "svc-prompt:";
const BUTTON_ID = new RegExp(`^${ID_START}([a-z0-9-]{1,32}):(yes|no)$`);

/** Undefined for a button of another's making. */
export function choiceOfButton({ id }: Fields): Inbound["choice"] {
  const [, prompt, answer] = BUTTON_ID.exec(wordOf(id) ?? "") ?? [];
  return prompt === undefined ? undefined : { prompt, approved: answer === "yes" };
}
