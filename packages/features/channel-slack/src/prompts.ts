/**
 * Questions with buttons.
 * https://docs.slack.dev/reference/block-kit/blocks/actions-block, https://docs.slack.dev/reference/block-kit/block-elements/button-element
 */
import type { Channel, Json, Prompt, Prompts } from "@svc/contract";
import { plainMrkdwn } from "./markdown.ts";
import { messageRefOf, choiceValue } from "./protocol.ts";
import { LITERAL, type Outbox, post } from "./send.ts";

const SECTION_CHARS = 3_000;
const LABEL_CHARS = 75;
/** As for an edit of an answer. */
const UPDATE_BYTES = 4_000;

/** `send`: for a question that has no room for buttons. */
export function promptsOf(outbox: Outbox, send: Channel["send"]): Prompts {
  return {
    async post(message, prompt, signal) {
      signal.throwIfAborted();
      // The words, with who asks and by which number: there is nothing else around a title that a stranger may have chosen.
      const text = plainMrkdwn(message.text);
      if (!hasRoom(text, prompt)) return send(message, signal);
      const { receipt } = await post(outbox, message.conversation, { text, blocks: blocksOf(text, prompt) }, signal);
      return receipt;
    },
    async close({ platformId, text }, outcome, signal) {
      signal.throwIfAborted();
      const message = messageRefOf(platformId);
      if (message === undefined) return;
      const said = closedText(text, outcome);
      await outbox.api.call("chat.update", { ...message, ...LITERAL, text: said, blocks: [section(said)] }, signal);
    },
  };
}

function hasRoom(text: string, { approve, reject }: Prompt): boolean {
  const fits = (label: string): boolean => label.trim() !== "" && label.length <= LABEL_CHARS;
  return text.length <= SECTION_CHARS && fits(approve) && fits(reject);
}

const blocksOf = (text: string, { id, approve, reject }: Prompt): Json => [
  section(text),
  {
    type: "actions",
    elements: [
      button(approve, choiceValue(id, true), "svc-approve", "primary"),
      button(reject, choiceValue(id, false), "svc-reject", "danger"),
    ],
  },
];

/** `verbatim`: names and addresses in it are not made links. */
const section = (text: string): Json => ({ type: "section", text: { type: "mrkdwn", text, verbatim: true } });

const button = (label: string, value: string, action: string, style: string): Json => ({
  type: "button",
  text: { type: "plain_text", text: label, emoji: false },
  action_id: action,
  value,
  style,
});

/** The question, as far as there is room for it, and how it ended. */
function closedText(question: string, outcome: string): string {
  const end = `\n\n${plainMrkdwn(outcome)}`;
  for (let chars = question.length; chars > 0; chars = Math.floor(chars * 0.8)) {
    const cut = chars === question.length ? question : `${question.slice(0, chars).toWellFormed()}…`;
    const text = plainMrkdwn(cut) + end;
    if (text.length <= SECTION_CHARS && Buffer.byteLength(text) <= UPDATE_BYTES) return text;
  }
  return end.trim().slice(0, SECTION_CHARS / 2);
}
