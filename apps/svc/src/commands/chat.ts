/** `svc chat`: one message with -m, else a conversation at the terminal. */
import { EXIT, type Json, SvcError } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import { callAtTerminal, printable } from "../cli/question.ts";
import { attach, type AttachedFile, idsOf } from "../cli/attached.ts";
import { type Place, saidIn, waitingLine } from "../cli/chat-repl.ts";
import { homeOf } from "@svc/config/home";
import { type Backend, openBackend } from "../service/backend.ts";

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
  const place = { session, ...(who !== undefined && { agent: who }) };
  const { uploadsDir: uploads } = homeOf(context.env);
  const attached: AttachedFile[] = [];
  for (const path of options.texts("attach")) attached.push(await attach(backend.call, uploads, path));
  if (message === undefined) {
    const { chatRepl } = await import("../cli/chat-repl.ts");
    return await chatRepl(backend, { place, uploads, attached });
  }
  // Awaited here: the backend is closed when this function is left.
  return await sayOnce(context, backend, { place, text: message, attached });
}

interface Once {
  readonly place: Place;
  readonly text: string;
  readonly attached: readonly AttachedFile[];
}

async function sayOnce(context: CommandContext, backend: Backend, { place, text, attached }: Once): Promise<number> {
  const interactive = process.stdin.isTTY && process.stdout.isTTY;
  const call = {
    name: "chat",
    body: { ...saidIn(text), ...place, interactive, ...(attached.length > 0 && { files: idsOf(attached) }) },
  };
  const said = interactive
    ? callAtTerminal(backend.call, call, tellModelWait)
    : backend.call({ ...call, onEvent: tellWaiting });
  const answer = (await said) as { response: string; readonly [key: string]: Json };
  if (context.options.flag("json")) context.printJson(answer);
  else context.print(process.stdout.isTTY ? printable(answer.response) : answer.response);
  return EXIT.ok;
}

function tellModelWait(event: { readonly type: string; readonly [key: string]: Json }): void {
  if (event.type === "turn-waiting") process.stderr.write(`${waitingLine(event)}\n`);
}

/** On standard error: the answer alone goes to standard output. */
function tellWaiting(event: { readonly type: string; readonly [key: string]: Json }): void {
  tellModelWait(event);
  if (event.type !== "waiting") return;
  const { tool, approval } = event;
  process.stderr.write(printable(`${String(tool)} waits for a yes: svc approvals approve ${String(approval)}\n`));
}
