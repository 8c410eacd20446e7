/** What a button of a question says to us when it is pressed. https://core.telegram.org/bots/api#inlinekeyboardbutton */
import type { Inbound, Prompt } from "@svc/contract";

const callbackData = (promptId: string, isApproval: boolean): string => `p:${promptId}:${isApproval ? "y" : "n"}`;

/** Undefined for a button of another's making. */
export function choiceOf(data: string): Inbound["choice"] {
  const [, prompt, answer] = /^p:([a-z0-9-]{1,32}):([yn])$/.exec(data) ?? [];
  return prompt === undefined ? undefined : { prompt, approved: answer === "y" };
}

/** Longer ones are cut off on a phone. */
const MAX_LABEL_CHARS = 64;

/** Undefined for labels that are no buttons: the question is asked in words then. */
export function keyboardOf({ id, approve, reject }: Prompt) {
  const fits = (label: string): boolean => label.trim() !== "" && label.length <= MAX_LABEL_CHARS;
  if (!fits(approve) || !fits(reject)) return undefined;
  const buttons = [
    { text: approve, callback_data: callbackData(id, true) },
    { text: reject, callback_data: callbackData(id, false) },
  ];
  return { inline_keyboard: [buttons] };
}
