/**
 * The two buttons of a question, and what a press on one hands back.
 * https://docs.discord.com/developers/components/reference#button
 */
import type { Inbound, Json, Prompt } from "@svc/contract";

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
export function choiceOfButton(customId: unknown): Inbound["choice"] {
  const [, prompt, answer] = BUTTON_ID.exec(typeof customId === "string" ? customId : "") ?? [];
  return prompt === undefined ? undefined : { prompt, approved: answer === "yes" };
}
