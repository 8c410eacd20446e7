/**
 * Dialogs of pages. One that shows stops the program, for up to a minute while a page loads: so pages have functions of ours in the
 * place of the browser's, which answer as a person does who dismisses each, and keep what was said.
 */
import { fieldsOf, listOf } from "@svc/kit";
import type { DriverDialog } from "@svc/kit/browser";
import type { Command } from "../program/batch.ts";
import type { Row } from "../program/rows.ts";

/** Runs in every document before its own scripts. One that asks without end is stopped by an error. */
export const DIALOGS_SCRIPT = `(() => {
  const { push, splice } = Array.prototype;
  const said = [];
  let left = 100;
  const dismissed = (kind, answer) => function (message = "") {
    if (left <= 0) throw new Error("too many dialogs");
    left -= 1;
    if (said.length < 5) push.call(said, { kind, message: String(message).slice(0, 300) });
    return answer;
  };
  const own = { alert: dismissed("alert", undefined), confirm: dismissed("confirm", false), prompt: dismissed("prompt", null) };
  for (const name of Object.keys(own)) Object.defineProperty(window, name, { value: own[name], writable: true, configurable: true });
  Object.defineProperty(window, "__dialogs", { value: () => splice.call(said, 0) });
})();
`;

/** What was said since it was last asked. */
export const SAID: Command = ["eval", "typeof __dialogs === 'function' ? __dialogs() : []"];

export function dialogsIn(row: Row | undefined): DriverDialog[] {
  return listOf(row?.result["result"]).flatMap((one) => {
    const { kind, message } = fieldsOf(one);
    const known = KINDS.find((name) => name === kind);
    return known === undefined ? [] : [{ kind: known, message: typeof message === "string" ? message : "" }];
  });
}

export const KINDS = ["alert", "confirm", "prompt", "beforeunload"] as const;
