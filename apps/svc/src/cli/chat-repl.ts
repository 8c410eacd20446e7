/** The conversation at the terminal: streamed answers, tool calls shown, Esc or Ctrl-C stops a turn, Ctrl-D ends. */
import { type Interface, createInterface, emitKeypressEvents } from "node:readline";
import { styleText } from "node:util";
import { EXIT, type Json, SvcError, turnFailure, waitText } from "@svc/contract";
import type { Backend } from "../service/backend.ts";
import { type AttachedFile, attach, attachCommand, fileLine, idsOf } from "./attached.ts";
import { type Confirm, printable, questionPrompt } from "./question.ts";

/** Which conversation, and with whom. */
export interface Place {
  readonly session: string;
  /** Without one, the default agent. */
  readonly agent?: string;
}

export interface ChatReplOptions {
  readonly place: Place;
  /** Folder of uploads. */
  readonly uploads: string;
  /** What goes with the first message. */
  readonly attached: readonly AttachedFile[];
}

export async function chatRepl(backend: Backend, { place, uploads, attached }: ChatReplOptions): Promise<number> {
  const files = [...attached];
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: "> " });
  emitKeypressEvents(process.stdin, lines);
  let turn: AbortController | undefined;
  const stop = (): void => turn?.abort(new SvcError("TURN_CANCELLED"));
  process.stdin.on("keypress", (_, key: { name?: string } | undefined) => {
    if (key?.name === "escape") stop();
  });
  lines.on("SIGINT", () => (turn ? stop() : lines.close()));
  // Ctrl-D in the middle of an answer: it is still shown, and nothing is asked for after it.
  const left = new AbortController();
  lines.once("close", () => left.abort());
  process.stdout.write(
    `Conversation "${place.session}". Esc stops an answer, /retry and /continue take up one that failed, /attach <path> adds a file, Ctrl-D ends.\n`,
  );
  lines.prompt();
  for await (const line of lines) {
    const command = attachCommand(line);
    if (command) await attachOne(backend, uploads, files, command.path);
    else if (line.trim() !== "") {
      turn = new AbortController();
      await say(backend, { place, files, text: line }, turn.signal, confirmOn(lines, turn.signal, left.signal));
      turn = undefined;
    }
    if (!left.signal.aborted) lines.prompt();
  }
  process.stdout.write("\n");
  return EXIT.ok;
}

/** The conversation's own reader asks: a second one would steal its keys. Whoever leaves has not said yes. */
function confirmOn(lines: Interface, turn: AbortSignal, left: AbortSignal): Confirm {
  return (message, over) =>
    new Promise((resolve) => {
      const gone = AbortSignal.any([turn, left, over]);
      const stop = (): void => resolve(left.aborted ? false : undefined);
      if (gone.aborted) return stop();
      gone.addEventListener("abort", stop, { once: true });
      lines.question(`\n${message} [y/N] `, { signal: gone }, (said) => resolve(/^y(es)?$/i.test(said.trim())));
    });
}

/** Without a path: what is attached. */
async function attachOne(backend: Backend, uploads: string, files: AttachedFile[], path: string): Promise<void> {
  try {
    if (path !== "") files.push(await attach(backend.call, uploads, path));
    const shown = files.map((file) => `${fileLine(file)}\n`).join("");
    const hint = files.length === 0 ? "/attach <path> adds a file to the next message." : "Goes with the next message.";
    process.stdout.write(printable(`${shown}${hint}\n`));
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    process.stdout.write(`${failureText(error)}\n`);
  }
}

interface Said {
  readonly place: Place;
  readonly text: string;
  /** Emptied once the message is stored with them. */
  readonly files: AttachedFile[];
}

async function say(
  backend: Backend,
  { place, text, files }: Said,
  signal: AbortSignal,
  confirm: Confirm,
): Promise<void> {
  const ended = new AbortController();
  const ask = questionPrompt(backend.call, confirm, ended.signal);
  let streamed = false;
  try {
    const answer = (await backend.call({
      name: "chat",
      body: { ...saidIn(text), ...place, interactive: true, ...(files.length > 0 && { files: idsOf(files) }) },
      signal,
      onEvent: (event) => {
        if (event.type === "stored") files.length = 0;
        if (event.type === "text-delta") {
          streamed = true;
          process.stdout.write(printable(String(event["text"])));
        } else if (event.type === "turn-waiting") process.stdout.write(`\n${styleText("dim", waitingLine(event))}\n`);
        else if (event.type === "tool-call") process.stdout.write(`\n[${printable(String(event["tool"]))} …]\n`);
        else ask(event);
      },
    })) as unknown as Answer;
    process.stdout.write(streamed ? "\n" : `${printable(answer.response)}\n`);
    process.stdout.write(`${styleText("dim", usageLine(answer))}\n`);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    process.stdout.write(`\n${failureText(error)}\n`);
  } finally {
    ended.abort();
  }
}

interface Answer {
  readonly response: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number | null;
}

/** A price nobody told us is said to be unknown; it is never shown as nothing. */
function usageLine({ model, input_tokens, output_tokens, cost_usd }: Answer): string {
  const cost = cost_usd === null ? "cost unknown: the price of the model is not set" : `$${cost_usd.toFixed(4)}`;
  return `${model}, ${input_tokens} tokens in, ${output_tokens} out, ${cost}`;
}

// `/retry` and `/continue` at the terminal.

/** As the buttons of the page: the last message once more, or the rest of its answer. */
export function saidIn(text: string): { readonly text: string; readonly follow?: "retry" | "continue" } {
  switch (text.trim().toLowerCase()) {
    case "/retry":
      return { text: "", follow: "retry" };
    case "/continue":
      return { text: "", follow: "continue" };
    default:
      return { text };
  }
}

// A failed turn, and one that waits for its model, at the terminal.

/** The sentence, what the provider said, and the fix, a line each. */
function failureText(error: SvcError): string {
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
