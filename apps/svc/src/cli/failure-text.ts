/** A failed turn, and one that waits for its model, at the terminal. */
import { type Json, type SvcError, turnFailure, waitText } from "@svc/contract";
import { printable } from "./question.ts";

/** The sentence, what the provider said, and the fix, a line each. */
export function failureText(error: SvcError): string {
  const { code, message, fix, said } = turnFailure(error);
  const quoted = said === undefined ? [] : [`The provider says: ${said}`];
  return printable([`${message}  [${code}]`, ...quoted, `Fix: ${fix}`].join("\n"));
}

/** Of a `turn-waiting` event. */
export function waitingLine(event: { readonly [key: string]: Json }): string {
  const { message, waitMs, attempt, attempts } = event;
  return printable(
    `[${String(message)} Trying again in ${waitText(Number(waitMs))}: ${String(attempt)} of ${String(attempts)}]`,
  );
}
