/** A tool call that waits for a person: shown at the terminal, answered with y or n. Anything but yes is no. */
import { type Json, SvcError } from "@svc/contract";
import type { Call } from "../service/backend.ts";
import { printable } from "./output.ts";

type Event = { readonly type: string; readonly [key: string]: Json };

/**
 * Asks the person at the terminal; resolves with whether the answer was yes. `over`: nobody need answer here any more; then,
 * and where the person wants the turn to stop, undefined.
 */
export type Confirm = (message: string, over: AbortSignal) => Promise<boolean | undefined>;

/** Takes the events of a call. `ended`: aborted when the call has ended, with whatever it had asked. */
export function questionPrompt(call: Call, confirm: Confirm, ended: AbortSignal): (event: Event) => void {
  const open = new Map<Json | undefined, AbortController>();
  return (event) => {
    const id = event["id"];
    if (event.type === "question-over") open.get(id)?.abort(event["outcome"]);
    if (event.type !== "question") return;
    const settled = new AbortController();
    open.set(id, settled);
    void answer(call, confirm, event, { settled: settled.signal, ended }).finally(() => open.delete(id));
  };
}

/** Calls, for a command that reads nothing else from the terminal. */
export async function callAtTerminal(
  call: Call,
  what: Pick<Parameters<Call>[0], "name" | "body">,
  onEvent?: (event: Event) => void,
): Promise<Json> {
  const ended = new AbortController();
  try {
    const ask = questionPrompt(call, confirmAlone, ended.signal);
    return await call({ ...what, onEvent: (event) => (onEvent?.(event), ask(event)) });
  } finally {
    // A prompt that is left open would keep the command from ending.
    ended.abort();
  }
}

const confirmAlone: Confirm = async (message, over) => {
  const { clack } = await import("./prompts.ts");
  const { confirm, isCancel } = await clack();
  const said = await confirm({ message, initialValue: false, signal: over });
  if (over.aborted) return undefined;
  return !isCancel(said) && said;
};

interface Over {
  /** It was answered elsewhere, or no answer in time; the reason tells. */
  readonly settled: AbortSignal;
  readonly ended: AbortSignal;
}

async function answer(call: Call, confirm: Confirm, event: Event, { settled, ended }: Over): Promise<void> {
  const message = `${String(event["tool"])} ${JSON.stringify(event["input"])}\n${String(event["reason"])}\nAllow it this once?`;
  const approved = await confirm(printable(message), AbortSignal.any([settled, ended]));
  if (settled.aborted) return tell(String(settled.reason));
  if (approved === undefined) return;
  await call({ name: "answer", body: { id: event["id"] ?? "", approved } }).catch((error: unknown) => {
    // The turn tells it as well, where it has any use for an answer still.
    if (error instanceof SvcError && error.code !== "NOT_FOUND") tell(error.message);
  });
}

const tell = (text: string): void => void process.stdout.write(`${printable(text)}\n`);
