/** `svc chat`: one message with -m, else a conversation at the terminal. */
import { randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, stat, unlink } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { createInterface, emitKeypressEvents, type Interface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { styleText } from "node:util";
import type { FileInfo } from "@svc/api";
import type { ChatAnswer, ChatEvent } from "@svc/api/control";
import { homeOf } from "@svc/config/home";
import { EXIT, SvcError, turnFailure, waitText } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import { fileLine, printable } from "../cli/output.ts";
import { callAtTerminal, type Confirm, questionPrompt } from "../cli/question.ts";
import { type Backend, openBackend } from "../service/backend.ts";
import type { Call } from "../service/control.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options } = context;
  const message = options.text("message");
  if (message === undefined && !process.stdin.isTTY) {
    throw new SvcError("USAGE", "svc chat needs a terminal, or a message given with -m.", {
      hint: 'For example: svc chat -m "hello"',
    });
  }
  if (message?.trim() === "") throw new SvcError("USAGE", "The message given with -m is blank.");
  const session = options.text("session") ?? (options.flag("new") ? `chat-${Date.now().toString(36)}` : "terminal");
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(session))
    throw new SvcError("USAGE", "--session takes 1 to 128 characters of A-Z a-z 0-9 . _ -");
  await using backend = await openBackend(context);
  const who = options.text("agent");
  const target = { session, ...(who !== undefined && { agent: who }) };
  const { uploadsDir: uploads } = homeOf(context.env);
  const attached: FileInfo[] = [];
  for (const path of options.texts("attach")) attached.push(await attach(backend.call, uploads, path));
  // Awaited here: the backend is closed when this function is left.
  if (message === undefined) return await chatRepl(backend, { target, uploads, attached });
  return await sayOnce(context, backend, { target, text: message, attached });
}

interface Once {
  readonly target: ChatTarget;
  readonly text: string;
  readonly attached: readonly FileInfo[];
}

async function sayOnce(context: CommandContext, backend: Backend, { target, text, attached }: Once): Promise<number> {
  const interactive = process.stdin.isTTY && process.stdout.isTTY;
  const call = {
    name: "chat" as const,
    body: { ...saidIn(text), ...target, interactive, ...(attached.length > 0 && { files: idsOf(attached) }) },
  };
  const said = interactive
    ? callAtTerminal(backend.call, call, tellModelWait)
    : backend.call({ ...call, onEvent: tellWaiting });
  const answer = await said;
  if (context.options.flag("json")) context.printJson(answer);
  else context.print(process.stdout.isTTY ? printable(answer.response) : answer.response);
  return EXIT.ok;
}

function tellModelWait(event: ChatEvent): void {
  if (event.type === "turn-waiting") process.stderr.write(`${waitingLine(event)}\n`);
}

/** On standard error: the answer alone goes to standard output. */
function tellWaiting(event: ChatEvent): void {
  tellModelWait(event);
  if (event.type !== "waiting") return;
  const { tool, approval } = event;
  process.stderr.write(printable(`${tool} waits for a yes: svc approvals approve ${approval}\n`));
}

/** Which conversation, and with whom. */
interface ChatTarget {
  readonly session: string;
  /** Without one, the default agent. */
  readonly agent?: string;
}

interface ChatReplOptions {
  readonly target: ChatTarget;
  /** Folder of uploads. */
  readonly uploads: string;
  /** What goes with the first message. */
  readonly attached: readonly FileInfo[];
}

/** Streamed answers, tool calls shown; Esc or Ctrl-C stops a turn, Ctrl-D ends. */
async function chatRepl(backend: Backend, { target, uploads, attached }: ChatReplOptions): Promise<number> {
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
    `Conversation "${target.session}". Esc stops an answer, /retry and /continue take up one that failed, /attach <path> adds a file, Ctrl-D ends.\n`,
  );
  lines.prompt();
  for await (const line of lines) {
    const command = attachCommand(line);
    if (command) await attachOne(backend, uploads, files, command.path);
    else if (line.trim() !== "") {
      turn = new AbortController();
      await say(backend, { target, files, text: line }, turn.signal, confirmOn(lines, turn.signal, left.signal));
      turn = undefined;
    }
    if (!left.signal.aborted) lines.prompt();
  }
  process.stdout.write("\n");
  return EXIT.ok;
}

/** Asks by the conversation's own reader: a second one would take its keys. Leaving is no approval. */
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
async function attachOne(backend: Backend, uploads: string, files: FileInfo[], path: string): Promise<void> {
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
  readonly target: ChatTarget;
  readonly text: string;
  /** Emptied once the message is stored with them. */
  readonly files: FileInfo[];
}

async function say(
  backend: Backend,
  { target, text, files }: Said,
  signal: AbortSignal,
  confirm: Confirm,
): Promise<void> {
  const ended = new AbortController();
  const ask = questionPrompt(backend.call, confirm, ended.signal);
  let streamed = false;
  try {
    const answer = await backend.call({
      name: "chat",
      body: { ...saidIn(text), ...target, interactive: true, ...(files.length > 0 && { files: idsOf(files) }) },
      signal,
      onEvent: (event) => {
        if (event.type === "stored") files.length = 0;
        if (event.type === "text-delta") {
          streamed = true;
          process.stdout.write(printable(event.text));
        } else if (event.type === "turn-waiting") process.stdout.write(`\n${styleText("dim", waitingLine(event))}\n`);
        else if (event.type === "tool-call") process.stdout.write(`\n[${printable(event.tool)} …]\n`);
        else ask(event);
      },
    });
    process.stdout.write(streamed ? "\n" : `${printable(answer.response)}\n`);
    process.stdout.write(`${styleText("dim", usageLine(answer))}\n`);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    process.stdout.write(`\n${failureText(error)}\n`);
  } finally {
    ended.abort();
  }
}

/** A price that the config does not set is shown as unknown, never as zero. */
function usageLine({ model, input_tokens, output_tokens, cost_usd }: ChatAnswer): string {
  const cost = cost_usd === null ? "cost unknown: the price of the model is not set" : `$${cost_usd.toFixed(4)}`;
  return `${model}, ${input_tokens} tokens in, ${output_tokens} out, ${cost}`;
}

/** `/retry` and `/continue`, as the buttons of the page: the last message once more, or the rest of its answer. */
function saidIn(text: string): { readonly text: string; readonly follow?: "retry" | "continue" } {
  switch (text.trim().toLowerCase()) {
    case "/retry":
      return { text: "", follow: "retry" };
    case "/continue":
      return { text: "", follow: "continue" };
    default:
      return { text };
  }
}

/** The sentence, what the provider said, and the fix, a line each. */
function failureText(error: SvcError): string {
  const { code, message, fix, said } = turnFailure(error);
  const quoted = said === undefined ? [] : [`The provider says: ${said}`];
  return printable([`${message}  [${code}]`, ...quoted, `Fix: ${fix}`].join("\n"));
}

function waitingLine(event: Extract<ChatEvent, { readonly type: "turn-waiting" }>): string {
  const { message, waitMs, attempt, attempts } = event;
  return printable(`[${message} Trying again in ${waitText(waitMs)}: ${attempt} of ${attempts}]`);
}

/** Of a file that goes with a message, as in the service. */
const MAX_BYTES = 25 * 1_048_576;

/** Throws USAGE for a path that is no file, and what the service throws. `folder`: that of uploads. */
async function attach(call: Call, folder: string, path: string): Promise<FileInfo> {
  const file = resolve(path.replace(/^~(?=\/|$)/, homedir()));
  const stats = await stat(file).catch((cause: unknown) => {
    throw new SvcError("USAGE", "There is no file at this path, or it can't be read.", { cause });
  });
  if (!stats.isFile()) throw new SvcError("USAGE", "Only files can be attached, not folders or devices.");
  if (stats.size > MAX_BYTES) throw new SvcError("TOO_LARGE", "A file may have at most 25 MiB.");
  const copy = `${randomBytes(8).toString("hex")}.part`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const part = join(folder, copy);
  try {
    await pipeline(createReadStream(file), createWriteStream(part, { flags: "wx", mode: 0o600 }));
    return await call({ name: "attach", body: { copy, name: basename(file) } });
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    throw new SvcError("USAGE", "The file can't be read, or not be copied into the home.", { cause });
  } finally {
    await unlink(part).catch(() => {});
  }
}

/** The path of `/attach`, which may stand in quotes; undefined: the line is no such command. */
function attachCommand(line: string): { readonly path: string } | undefined {
  const [word = "", ...rest] = line.trim().split(" ");
  if (word !== "/attach") return undefined;
  const path = rest.join(" ").trim();
  const quote = path[0];
  const isQuoted = path.length > 1 && (quote === '"' || quote === "'") && path.endsWith(quote);
  // A terminal into which a file is dropped writes a backslash before each blank.
  return { path: isQuoted ? path.slice(1, -1) : path.replaceAll(/\\(.)/g, "$1") };
}

const idsOf = (files: readonly FileInfo[]): string[] => files.map(({ id }) => id);
