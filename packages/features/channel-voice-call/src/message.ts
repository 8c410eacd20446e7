/** A message as it is to be said: its words, whose answer it is, and what a key says to it. */
import type { Json, OutgoingMessage, Prompt } from "@svc/contract";
import { fieldsOf } from "@svc/kit";
import type { NewUtterance } from "./calls.ts";
import type { Config } from "./config.ts";
import type { Asked } from "./place.ts";
import { sayable } from "./twiml.ts";
import { CALL_SID } from "./webhook.ts";

/**
 * Of one message. A text is said by up to 4 500 characters of a URL, nine for one of most scripts, and an update takes 4 000
 * characters of XML. https://www.twilio.com/docs/api/errors/13521, https://www.twilio.com/docs/api/errors/32018
 */
export const MAX_CHARS = 500;

/** Core cuts a text at the end of a sentence: a part that is followed by another is hardly ever shorter. */
const GOES_ON_CHARS = 300;

export interface Words extends NewUtterance {
  /** The text to speak; blank if nothing is speakable. */
  readonly text: string;
}

/** The call that a message answers something in. */
export interface Reply {
  readonly call: string;
  readonly turn: number;
}

export async function wordsOf(
  { deliveryId, text, replyData }: OutgoingMessage,
  { code_notice: codeNotice, keys_notice: keysNotice }: Config,
  prompt?: Prompt,
): Promise<Words> {
  const { speakableOf } = await import("@svc/kit/markdown");
  const turn = replyOf(replyData)?.turn;
  const speakable = (part: string): string => speakableOf(part, { codeNotice, clean: sayable });
  const plain = { deliveryId, turn, goesOn: text.length > GOES_ON_CHARS && !prompt, ask: prompt && askedBy(prompt) };
  const question = prompt && plain.ask && questionOf(prompt, keysNotice, speakable);
  return { ...plain, text: question ?? speakable(text) };
}

/** Undefined: no key can answer it. */
function askedBy({ id, approve, reject }: Prompt): Asked | undefined {
  const fits = (label: string): boolean => label.trim() !== "" && label.length <= MAX_LABEL_CHARS;
  return fits(approve) && fits(reject) ? { prompt: id, approve, reject } : undefined;
}

/** Undefined where there is no room for it: then it is read out in words. */
function questionOf(
  { title, message, approve, reject }: Prompt,
  keysNotice: string,
  speakable: (text: string) => string,
): string | undefined {
  const keys = keysNotice.replaceAll("{approve}", approve).replaceAll("{reject}", reject);
  const text = [title, speakable(message), keys].filter((part) => part.trim() !== "").join("\n");
  return text.length <= MAX_CHARS ? text : undefined;
}

/** They stand in the URL that is called when a key is pressed. */
const MAX_LABEL_CHARS = 20;

export function replyOf(data: Json | undefined): Reply | undefined {
  const { call, turn } = fieldsOf(data);
  if (typeof call !== "string" || !CALL_SID.test(call) || typeof turn !== "number") return undefined;
  return { call, turn };
}
