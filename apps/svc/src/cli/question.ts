/** A tool call that waits for a person: shown at the terminal, answered with y or n. Anything but yes is no. */
import type { ChatEvent, ControlAnswer } from "@svc/api/control";
import { SvcError } from "@svc/contract";
import type { Call, ControlCall } from "../service/control.ts";
import { printable } from "./output.ts";

/**
 * Asks the person at the terminal; resolves with whether the answer was yes. `over`: nobody need answer here any more; then,
 * and where the person wants the turn to stop, undefined.
 */
export type Confirm = (message: string, over: AbortSignal) => Promise<boolean | undefined>;

/** Takes the events of a call. `ended`: aborted when the call has ended, with whatever it had asked. */
export function questionPrompt(call: Call, confirm: Confirm, ended: AbortSignal): (event: ChatEvent) => void {
  const open = new Map<string, AbortController>();
  return (event) => {
    if (event.type === "question-over") open.get(event.id)?.abort(event.outcome);
    if (event.type !== "question") return;
    const settled = new AbortController();
    open.set(event.id, settled);
    void answer(call, confirm, event, { settled: settled.signal, ended }).finally(() => open.delete(event.id));
  };
}

/** Calls, for a command that reads nothing else from the terminal. */
export async function callAtTerminal<Name extends "chat" | "tool">(
  call: Call,
  what: ControlCall<Name>,
  onEvent?: (event: ChatEvent) => void,
): Promise<ControlAnswer<Name>> {
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

type Question = Extract<ChatEvent, { readonly type: "question" }>;

interface Over {
  /** It was answered elsewhere, or no answer in time; the reason tells. */
  readonly settled: AbortSignal;
  readonly ended: AbortSignal;
}

async function answer(call: Call, confirm: Confirm, event: Question, { settled, ended }: Over): Promise<void> {
  const message = `${event.tool} ${JSON.stringify(event.input)}\n${event.reason}\nAllow it this once?`;
  const approved = await confirm(printable(message), AbortSignal.any([settled, ended]));
  if (settled.aborted) return tell(String(settled.reason));
  if (approved === undefined) return;
  await call({ name: "answer", body: { id: event.id, approved } }).catch((error: unknown) => {
    // The turn tells it as well, where it has any use for an answer still.
    if (error instanceof SvcError && error.code !== "NOT_FOUND") tell(error.message);
  });
}

const tell = (text: string): void => void process.stdout.write(`${printable(text)}\n`);
