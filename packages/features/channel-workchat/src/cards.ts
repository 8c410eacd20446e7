/**
 * Cards (JSON 2.0): everything that is said is one, because only cards can be changed and have buttons.
 * https://open.larksuite.com/document/feishu-cards/card-json-v2-structure
 */
import type { Inbound, Json, Prompt } from "@svc/contract";
import { fieldsOf, splitText, wordOf } from "@svc/kit";
import { messageId } from "./ids.ts";

/** Of the card as JSON; the platform takes 30 kB of the whole request. */
const CARD_BYTES = 28_000;
/** What of three bytes each still fits into one card. */
export const TEXT_CHARS = 9_000;
/** Below it a text of signs that are all entities fits. */
const LEAST_CHARS = 1_000;
const LABEL_CHARS = 60;

/** `update_multi`: all members see a change of the card. */
const card = (elements: Json): string =>
  JSON.stringify({ schema: "2.0", config: { update_multi: true }, body: { elements } });

const fits = (json: string): boolean => Buffer.byteLength(json) <= CARD_BYTES;

const markdownCard = async (text: string): Promise<string> => {
  // Evaluated with the first message, not with the start.
  const { cardMarkdown } = await import("./markdown.ts");
  return card([{ tag: "markdown", content: cardMarkdown(text) }]);
};

/** The text in as many cards as it takes, cut at paragraphs where there are any. */
export async function cardsOf(text: string): Promise<string[]> {
  const whole = await markdownCard(text);
  if (fits(whole) || text.length <= LEAST_CHARS) return [whole];
  const half = Math.max(LEAST_CHARS, Math.ceil(text.length / 2));
  const parts: string[] = [];
  for (const part of halves(text, half)) parts.push(...(await cardsOf(part)));
  return parts;
}

/** At the last paragraph that ends in the second quarter, else as any long text is cut. */
function halves(text: string, chars: number): string[] {
  const at = text.lastIndexOf("\n\n", chars);
  const isFine = at >= chars / 2 && (text.slice(0, at).match(/^```/gm) ?? []).length % 2 === 0;
  return isFine ? [text.slice(0, at), text.slice(at + 2)] : splitText(text, chars);
}

/** Undefined: it takes more than one. */
export async function oneCardOf(text: string): Promise<string | undefined> {
  const json = await markdownCard(text);
  return fits(json) ? json : undefined;
}

const plain = (text: string): Json => ({ tag: "div", text: { tag: "plain_text", content: text.toWellFormed() } });

/** A question as plain text, and its buttons. Undefined: there is no room for them. */
export function questionCard(
  text: string,
  { id, approve, reject }: Prompt,
  thread: string | undefined,
): string | undefined {
  if (![approve, reject].every((label) => label.trim() !== "" && label.length <= LABEL_CHARS)) return undefined;
  const button = (label: string, type: string, answer: "yes" | "no"): Json => ({
    tag: "button",
    text: { tag: "plain_text", content: label.toWellFormed() },
    type,
    behaviors: [
      {
        type: "callback",
        value: { choice: `svc-prompt:${id}:${answer}`, label, ...(thread !== undefined && { thread }) },
      },
    ],
  });
  const json = card([plain(text), button(approve, "primary", "yes"), button(reject, "danger", "no")]);
  return fits(json) ? json : undefined;
}

/** The same without its buttons, and how it ended. */
export function closedCard(text: string, outcome: string): string {
  for (let chars = text.length; chars > 0; chars = Math.floor(chars / 2)) {
    const cut = chars === text.length ? text : `${text.slice(0, chars)}…`;
    const json = card([plain(cut), plain(outcome)]);
    if (fits(json)) return json;
  }
  return card([plain(outcome.slice(0, LEAST_CHARS))]);
}

export interface Pressed {
  readonly choice: NonNullable<Inbound["choice"]>;
  readonly label: string;
  /** Root message of the thread that the question was posted in. */
  readonly thread: string | undefined;
}

/** What a button of a question of ours hands back. Undefined for one of another's making. */
export function choiceOf(value: unknown): Pressed | undefined {
  const { choice, label, thread } = fieldsOf(value);
  const [, prompt, answer] = (typeof choice === "string" && VALUE.exec(choice)) || [];
  const words = wordOf(label);
  if (prompt === undefined || words === undefined || words.length > LABEL_CHARS) return undefined;
  return { choice: { prompt, approved: answer === "yes" }, label: words, thread: messageId(thread) };
}

const VALUE = /^svc-prompt:([a-z0-9-]{1,32}):(yes|no)$/;
