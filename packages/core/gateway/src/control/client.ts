/** The other end of the control socket: used by every `svc` command that needs the daemon. Imports no server code. */
import { closeSync, openSync } from "node:fs";
import { basename, dirname } from "node:path";
import { type ErrorCode, ERRORS, type Json, SvcError } from "@svc/contract";

// Not by `import`: that reads every export of node:http, the browser's classes too, whose library costs each command 35 ms.
const { request } = process.getBuiltinModule("node:http");

export interface ControlCall {
  readonly socketFile: string;
  readonly name: string;
  readonly body?: { readonly [key: string]: Json };
  readonly onEvent?: (event: { readonly type: string; readonly [key: string]: Json }) => void;
  readonly signal?: AbortSignal;
}

/** Resolves with the daemon's result. Throws NOT_RUNNING, DAEMON_LOST, DAEMON_FORBIDDEN, else what the daemon answered. */
export async function callDaemon(call: ControlCall): Promise<Json> {
  using address = controlAddress(call.socketFile);
  const response = await send(call, address.path);
  try {
    for await (const line of linesOf(response)) {
      const event = eventOf(line);
      if (event.type === "result") return event["value"] ?? null;
      if (event.type === "error") throw asError(event);
      call.onEvent?.(event);
    }
  } catch (error) {
    throw reasonOf(error, call.signal);
  }
  throw wentAway();
}

function send(call: ControlCall, path: string): Promise<NodeJS.ReadableStream> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      // A connection of its own: a pooled one may belong to a daemon that has gone, which looks like one that just went.
      {
        socketPath: path,
        // Never looked up. Of a name node:http would find out whether it is an IPv6 address, by a pattern that takes 5 ms to compile.
        host: "127.0.0.1",
        agent: false,
        method: "POST",
        path: `/${call.name}`,
        ...(call.signal && { signal: call.signal }),
      },
      resolve,
    );
    // Not `once`: once the answer has begun, a lost connection emits here as well as on the response.
    outgoing.on("error", (cause: NodeJS.ErrnoException) => reject(reasonOf(cause, call.signal)));
    outgoing.end(JSON.stringify(call.body ?? {}));
  });
}

/** What a failed exchange means. A connection that ends too early is a daemon that was stopped or killed. */
function reasonOf(cause: unknown, signal: AbortSignal | undefined): unknown {
  if (cause instanceof SvcError) return cause;
  if (signal?.aborted) return signal.reason;
  const { code = "" } = cause as NodeJS.ErrnoException;
  if (ABSENT.has(code)) return new SvcError("NOT_RUNNING", undefined, { cause, hint: "Start it with: svc daemon" });
  if (code === "EACCES" || code === "EPERM") {
    return new SvcError("DAEMON_FORBIDDEN", undefined, {
      cause,
      hint: "Run svc as the user that runs the daemon, or name another home with SVC_HOME.",
    });
  }
  // An answer that is not HTTP comes from another program, or from a daemon that died half way.
  return LOST.has(code) || code.startsWith("HPE_") ? wentAway(cause) : cause;
}

const ABSENT = new Set(["ENOENT", "ECONNREFUSED", "ENOTDIR"]);
const LOST = new Set(["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"]);

const wentAway = (cause?: unknown): SvcError =>
  new SvcError("DAEMON_LOST", undefined, { cause, hint: "Look at its log, and start it again." });

interface ControlEvent {
  readonly type: string;
  readonly [key: string]: Json;
}

function eventOf(line: string): ControlEvent {
  let event: Json;
  try {
    event = JSON.parse(line) as Json;
  } catch (cause) {
    throw wentAway(cause);
  }
  if (typeof event !== "object" || event === null || Array.isArray(event)) throw wentAway();
  return event as ControlEvent;
}

function asError(event: { readonly [key: string]: Json }): SvcError {
  const { code: sentCode } = event;
  const code = typeof sentCode === "string" && Object.hasOwn(ERRORS, sentCode) ? (sentCode as ErrorCode) : "INTERNAL";
  const { hint, said } = event;
  return new SvcError(code, String(event["error"]), {
    ...(typeof hint === "string" && { hint }),
    ...(typeof said === "string" && { said }),
  });
}

// Where the control socket is. A Unix socket's path may have about 104 bytes; a deep home is reached through its folder's handle.

/** `sun_path` is 104 bytes on macOS and 108 on Linux, with the closing NUL. */
const MAX_SOCKET_PATH_BYTES = 103;

export interface ControlAddress extends Disposable {
  /** What to hand to `listen` or `connect`; valid until disposed. */
  readonly path: string;
}

/** Throws USAGE when the home's path is too long for this platform. */
export function controlAddress(socketFile: string, platform: NodeJS.Platform = process.platform): ControlAddress {
  if (platform === "win32") {
    // Loaded here: it would cost every command on every other system 8 ms.
    const { createHash } = process.getBuiltinModule("node:crypto");
    const name = createHash("sha256").update(socketFile.toLowerCase()).digest("hex").slice(0, 32);
    return { path: String.raw`\\.\pipe\svc-${name}`, [Symbol.dispose]: () => {} };
  }
  if (Buffer.byteLength(socketFile) <= MAX_SOCKET_PATH_BYTES) return { path: socketFile, [Symbol.dispose]: () => {} };
  if (platform !== "linux") {
    throw new SvcError("USAGE", "The path of the home folder is too long for a control socket.", {
      hint: "Set SVC_HOME to a shorter path.",
    });
  }
  const folder = openSync(dirname(socketFile), "r");
  return { path: `/proc/self/fd/${folder}/${basename(socketFile)}`, [Symbol.dispose]: () => closeSync(folder) };
}

/**
 * A stream's lines, split at line feeds only. `node:readline` also splits at U+2028, which JSON leaves unescaped: one such
 * character in a user's text would break the answer.
 */
export async function* linesOf(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  stream.setEncoding("utf8");
  let begun: string[] = [];
  for await (const chunk of stream as AsyncIterable<string>) {
    const [first = "", ...others] = chunk.split("\n");
    begun.push(first);
    for (const next of others) {
      yield begun.join("");
      begun = [next];
    }
  }
  const rest = begun.join("");
  if (rest !== "") yield rest;
}
