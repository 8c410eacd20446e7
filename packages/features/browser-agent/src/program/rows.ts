/** What the program answers: a JSON list with a row for each command that was run. It is believed only in this form. */
import { type Json, SvcError } from "@svc/contract";
import { type Fields, fieldsOf, parseJson } from "@svc/kit";

export interface Row {
  /** Which of the commands, from 0. */
  readonly index: number;
  readonly success: boolean;
  /** Empty when it failed. */
  readonly result: Fields;
  /** The program's words, which may be a page's: to be understood, never to be shown. Empty when it went well. */
  readonly error: string;
  /** A name for some errors, e.g. `page_wedged`. */
  readonly code: string | undefined;
}

/** Throws BROWSER_FAILED for whatever is not that. */
export function rowsOf(output: string, commands: number): readonly Row[] {
  const answer = parseJson(Buffer.from(output));
  if (Array.isArray(answer)) {
    const rows = answer.map((row) => rowOf(row, commands));
    const inOrder = rows.every((row, place) => row?.index === place);
    if (inOrder && rows.length > 0 && rows.length <= commands) return rows as readonly Row[];
  }
  // One error for all: the browser could not even be started.
  const { success, error } = fieldsOf(answer);
  if (success === false && typeof error === "string") throw notStarted(error);
  throw new SvcError("BROWSER_FAILED", "agent-browser gave an answer that svc does not understand.", {
    hint: "An operator should look at its version: svc doctor, agent-browser --version.",
  });
}

function rowOf(row: Json, commands: number): Row | undefined {
  const { index, success, error, result, code } = fieldsOf(row);
  if (typeof success !== "boolean" || typeof index !== "number" || index >= commands) return undefined;
  if (!success && typeof error !== "string") return undefined;
  return {
    index,
    success,
    result: success ? fieldsOf(result) : fieldsOf(null),
    error: typeof error === "string" ? error : "",
    code: typeof code === "string" ? code : undefined,
  };
}

const notStarted = (cause: string): SvcError =>
  new SvcError("BROWSER_UNAVAILABLE", "agent-browser could not start its browser.", {
    hint: "Try the program by hand: agent-browser open about:blank.",
    cause: new Error(cause.slice(0, 500)),
  });
