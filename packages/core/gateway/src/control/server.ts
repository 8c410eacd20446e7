/**
 * The control socket: how `svc` talks to its daemon. HTTP over a Unix socket that only the owner can open (folder 0700,
 * socket 0600), a named pipe on Windows. Nothing of it exists on TCP. Every answer is newline-delimited JSON: any number of
 * events, then one `{"type":"result","value"}` or `{"type":"error","error","code","hint","said"}`.
 */
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { type Clock, type Json, type Logger, SvcError } from "@svc/contract";
import { parseJson } from "@svc/kit";
import { within } from "../http/connections.ts";
import { RequestBudget } from "../http/request-budget.ts";
import { endIfUnread } from "../http/send.ts";
import { controlAddress } from "./client.ts";

export interface ControlRequest {
  readonly body: { readonly [key: string]: Json };
  /** Aborted when the caller goes away, or the daemon stops and its patience is over. */
  readonly signal: AbortSignal;
  /** Sends an event ahead of the result. */
  send(event: { readonly type: string; readonly [key: string]: Json }): void;
}

/** Handlers by name; `svc` posts to `/<name>`. */
export type ControlHandlers = Readonly<Record<string, (request: ControlRequest) => Json | Promise<Json>>>;

export interface ControlServer {
  /**
   * Lets the commands that run end for at most `graceMs`, aborts the rest, waits for their end, and closes: what they
   * do to the store must be done before it closes. Idempotent; a later call with 0 aborts at once.
   */
  close(graceMs: number): Promise<void>;
}

const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Events that a caller may leave unread: more of them would be memory for as long as the command runs. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** As for turns: a command that ignores SIGTERM is killed after two seconds, and then kept. */
const ABORT_GRACE_MS = 5_000;

export interface ControlDeps {
  readonly log: Logger;
  readonly clock: Clock;
}

/**
 * Call only while holding the home's lock: a socket that is there already is a dead daemon's and is replaced. Throws
 * HOME_UNWRITABLE.
 */
export async function startControl(
  socketFile: string,
  handlers: ControlHandlers,
  { log, clock }: ControlDeps,
): Promise<ControlServer> {
  const running = new RunningCommands();
  const budget = new RequestBudget({ clock, log });
  const server = createServer(
    budget.each((incoming, outgoing) =>
      running.track((caller) => serve(handlers, { log, clock }, caller, incoming, outgoing)),
    ),
  );
  budget.guard(server);
  // Node would answer a broken body after the handler has, which is one answer too many.
  server.on("clientError", (_error, socket) => (socket as Socket).destroySoon());
  await listen(server, socketFile);
  const hurry = Promise.withResolvers<void>();
  const close = async (graceMs: number): Promise<void> => {
    await within(Promise.race([running.idle(), hurry.promise]), graceMs, clock);
    if (running.size > 0) {
      running.abortAll();
      await within(running.idle(), ABORT_GRACE_MS, clock);
    }
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    rmSync(socketFile, { force: true });
  };
  let closing: Promise<void> | undefined;
  return {
    close(graceMs) {
      if (closing && graceMs === 0) hurry.resolve();
      return (closing ??= close(graceMs));
    },
  };
}

async function listen(server: Server, socketFile: string): Promise<void> {
  try {
    mkdirSync(dirname(socketFile), { recursive: true, mode: 0o700 });
    chmodSync(dirname(socketFile), 0o700);
    rmSync(socketFile, { force: true });
    using address = controlAddress(socketFile);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(address.path, resolve);
    });
    if (process.platform !== "win32") chmodSync(address.path, 0o600);
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    throw new SvcError("HOME_UNWRITABLE", `The control socket ${socketFile} can't be made.`, {
      cause,
      hint: "Remove the file at that path, or name another home with SVC_HOME.",
    });
  }
}

async function serve(
  handlers: ControlHandlers,
  { log, clock }: ControlDeps,
  caller: AbortController,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  outgoing.once("close", () => caller.abort(new SvcError("TURN_CANCELLED")));
  const send = (event: object): void => {
    if (outgoing.writableEnded || outgoing.destroyed) return;
    // Looked at before: one result may be long.
    if (outgoing.writableLength > MAX_UNREAD_BYTES) outgoing.destroy();
    else outgoing.write(`${JSON.stringify(event)}\n`);
  };
  outgoing.writeHead(200, { "content-type": "application/x-ndjson" });
  try {
    const name = (incoming.url ?? "/").slice(1);
    const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
    if (!handler)
      throw new SvcError("NOT_FOUND", "The daemon does not know this command; svc and daemon may differ in version.");
    const value = await handler({ body: await readBody(incoming), signal: caller.signal, send });
    send({ type: "result", value });
  } catch (error) {
    const known = error instanceof SvcError ? error : new SvcError("INTERNAL", undefined, { cause: error });
    if (known.code === "INTERNAL") log.error("a control command failed unexpectedly", { error: String(error) });
    const { code, message, hint, said } = known;
    send({ type: "error", error: message, code, ...(hint && { hint }), ...(said && { said }) });
  }
  outgoing.end();
  endIfUnread(outgoing, clock);
}

/** Throws TOO_LARGE, BAD_JSON, and BAD_REQUEST when the body is no object or the caller is gone. */
async function readBody(incoming: IncomingMessage): Promise<{ readonly [key: string]: Json }> {
  const value = parse(await readBytes(incoming));
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new SvcError("BAD_REQUEST");
  return value as { readonly [key: string]: Json };
}

async function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // Destroyed at the end of a loop that was left early, the connection would take the answer with it.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) throw new SvcError("TOO_LARGE");
      chunks.push(chunk);
    }
  } catch (cause) {
    incoming.resume();
    throw cause instanceof SvcError ? cause : new SvcError("BAD_REQUEST", undefined, { cause });
  }
  return Buffer.concat(chunks);
}

function parse(bytes: Buffer): Json {
  if (bytes.length === 0) return {};
  const value = parseJson(bytes);
  if (value === undefined) throw new SvcError("BAD_JSON");
  return value;
}

// Commands started over the control socket.

export class RunningCommands {
  readonly #running = new Map<AbortController, Promise<void>>();

  /** Runs `command`, which never rejects, with the controller that ends it. */
  track(command: (caller: AbortController) => Promise<void>): void {
    const caller = new AbortController();
    this.#running.set(
      caller,
      command(caller).finally(() => this.#running.delete(caller)),
    );
  }

  get size(): number {
    return this.#running.size;
  }

  /** Resolves when no command runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running.values());
  }

  abortAll(): void {
    const reason = new SvcError("TURN_CANCELLED", "The service shut down before the command ended.");
    for (const caller of this.#running.keys()) caller.abort(reason);
  }
}
