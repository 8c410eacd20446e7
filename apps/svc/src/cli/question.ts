/** A tool call that waits for a person: shown at the terminal, answered with y or n. Anything but yes is no. */
import type { Json } from "@svc/contract";
import type { Call } from "../service/backend.ts";

type Event = { readonly type: string; readonly [key: string]: Json };

/**
 * Asks the person at the terminal; resolves with whether the answer was yes. `elsewhere`: aborted when somebody else has
 * answered, and nobody need answer here any more.
 */
export type Confirm = (message: string, elsewhere: AbortSignal) => Promise<boolean>;

export function questionPrompt(call: Call, confirm: Confirm): (event: Event) => void {
  const open = new Map<Json | undefined, AbortController>();
  return (event) => {
    if (event.type === "answered") open.get(event["id"])?.abort();
    if (event.type !== "question") return;
    const elsewhere = new AbortController();
    open.set(event["id"], elsewhere);
    void answer(call, confirm, event, elsewhere.signal).finally(() => open.delete(event["id"]));
  };
}

/** For a command that reads nothing else from the terminal. */
export const confirmAlone: Confirm = async (message, signal) => {
  const { clack } = await import("./prompts.ts");
  const { confirm, isCancel } = await clack();
  const said = await confirm({ message, initialValue: false, signal });
  return !isCancel(said) && said;
};

async function answer(call: Call, confirm: Confirm, event: Event, elsewhere: AbortSignal): Promise<void> {
  const message = `${String(event["tool"])} ${JSON.stringify(event["input"])}\n${String(event["reason"])}\nAllow it this once?`;
  const approved = await confirm(printable(message), elsewhere);
  if (elsewhere.aborted) return;
  // A question that ran out of time has no more use for an answer.
  await call({ name: "answer", body: { id: event["id"] ?? "", approved } }).catch(() => {});
}

/** What a model wrote must not drive the terminal it is shown on. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, "\ufffd");
}
