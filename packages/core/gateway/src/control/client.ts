/** The other end of the control socket: used by every `svc` command that needs the daemon. Imports no server code. */
import { request } from "node:http";
import { createInterface } from "node:readline";
import { type ErrorCode, ERRORS, type Json, SvcError } from "@svc/contract";
import { controlAddress } from "./address.ts";

export interface ControlCall {
  readonly socketFile: string;
  readonly name: string;
  readonly body?: { readonly [key: string]: Json };
  readonly onEvent?: (event: { readonly type: string; readonly [key: string]: Json }) => void;
  readonly signal?: AbortSignal;
}

/** Resolves with the daemon's result. Throws NOT_RUNNING when there is no daemon, else what the daemon answered. */
export async function callDaemon(call: ControlCall): Promise<Json> {
  using address = controlAddress(call.socketFile);
  const response = await send(call, address.path);
  for await (const line of createInterface({ input: response })) {
    const event = JSON.parse(line) as { type: string; [key: string]: Json };
    if (event.type === "result") return event["value"] ?? null;
    if (event.type === "error") throw asError(event);
    call.onEvent?.(event);
  }
  throw new SvcError("NOT_RUNNING", "The daemon went away before it answered.", {
    hint: "Look at its log, and start it again.",
  });
}

function send(call: ControlCall, path: string): Promise<NodeJS.ReadableStream> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { socketPath: path, method: "POST", path: `/${call.name}`, ...(call.signal && { signal: call.signal }) },
      resolve,
    );
    outgoing.once("error", (cause: NodeJS.ErrnoException) => {
      const absent = cause.code === "ENOENT" || cause.code === "ECONNREFUSED";
      if (call.signal?.aborted) reject(call.signal.reason as Error);
      else if (absent) reject(new SvcError("NOT_RUNNING", undefined, { cause, hint: "Start it with: svc daemon" }));
      else reject(cause);
    });
    outgoing.end(JSON.stringify(call.body ?? {}));
  });
}

function asError(event: { readonly [key: string]: Json }): SvcError {
  const code = typeof event["code"] === "string" && event["code"] in ERRORS ? (event["code"] as ErrorCode) : "INTERNAL";
  const hint = typeof event["hint"] === "string" ? { hint: event["hint"] } : {};
  return new SvcError(code, String(event["error"]), hint);
}
