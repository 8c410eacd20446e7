/** What a button of a question of ours hands back. */
import type { Inbound, Json } from "@svc/contract";

export const choiceValue = (prompt: string, approved: boolean): string =>
  `svc-prompt:${prompt}:${approved ? "yes" : "no"}`;

/** Undefined for a button of another's making. */
export function choiceOf(value: Json | undefined): Inbound["choice"] {
  const [, prompt, answer] = (typeof value === "string" && VALUE.exec(value)) || [];
  return prompt === undefined ? undefined : { prompt, approved: answer === "yes" };
}

const VALUE = /^svc-prompt:([a-z0-9-]{1,32}):(yes|no)$/;
