/** A tool call that waits for a person: shown at the terminal, answered with y or n. Anything but yes is no. */
import type { Json } from "@svc/contract";
import type { Call } from "../service/backend.ts";

type Event = { readonly type: string; readonly [key: string]: Json };

/** Asks the person at the terminal; resolves with whether the answer was yes. */
export type Confirm = (message: string) => Promise<boolean>;

export function questionPrompt(call: Call, confirm: Confirm): (event: Event) => void {
  return (event) => {
    if (event.type === "question") void answer(call, confirm, event);
  };
}

/** For a command that reads nothing else from the terminal. */
export const confirmAlone: Confirm = async (message) => {
  const { clack } = await import("./prompts.ts");
  const { confirm, isCancel } = await clack();
  const said = await confirm({ message, initialValue: false });
  return !isCancel(said) && said;
};

async function answer(call: Call, confirm: Confirm, event: Event): Promise<void> {
  const message = `${String(event["tool"])} ${JSON.stringify(event["input"])}\n${String(event["reason"])}\nAllow it this once?`;
  const approved = await confirm(printable(message));
  // A question that ran out of time has no more use for an answer.
  await call({ name: "answer", body: { id: event["id"] ?? "", approved } }).catch(() => {});
}

/** What a model wrote must not drive the terminal it is shown on. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}
