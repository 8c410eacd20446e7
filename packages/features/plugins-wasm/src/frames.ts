/**
 * What the service and a plugin's process say to each other, over the process's standard input and output. A frame is the
 * length of its head and of its body (u32, little endian), the head as JSON, and the body.
 */
/** To the process. */
export type ToProcess =
  /** First, and once. Body: the module. */
  | ({ readonly kind: "load" } & ProcessLimits)
  /** Body: the input. */
  | { readonly kind: "call" }
  /** To a request. Body: the answer's. */
  | { readonly kind: "answer"; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  /** To a request that was not made, or came to nothing. Body: why. */
  | { readonly kind: "refusal" };

/** From the process, which is in the hands of anyone who wrote the plugin: nothing of it is believed. */
export type FromProcess =
  /** To `load`. */
  | { readonly kind: "ready" }
  /** To `call`. Body: the output. */
  | { readonly kind: "output" }
  /** To `load` or `call`. Body: what went wrong. */
  | { readonly kind: "failed"; readonly how: FailureKind }
  /** While a call runs, and the process waits. Body: the request's. */
  | ({ readonly kind: "request" } & PluginRequest)
  /** While a call runs. Body: the line. */
  | { readonly kind: "log" };

/** `invalid`: the engine does not take the module. `reported`: the plugin says so itself. `stopped`: the host would not go on. */
export type FailureKind = "invalid" | "reported" | "crashed" | "stopped";

export interface ProcessLimits {
  /** Pages of 64 KiB of the module's memory. */
  readonly maxPages: number;
  /** Bytes that one call may have of the host beside the module's own memory. */
  readonly maxHostBytes: number;
  readonly maxOutputBytes: number;
}

export interface PluginRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The file descriptor, in the process, of a pipe that no one writes to and that is closed when the service ends. */
export const LIFELINE = 3;

export const FRAME_PREFIX_BYTES = 8;

export const MAX_HEAD_BYTES = 65_536;

/** Frames of plugin requests and of their answers. */
export const MAX_HTTP_BODY_BYTES = 4_194_304;

/** Limit of one call; both sides drop the rest. */
export const MAX_LOG_LINES = 100;
export const MAX_LOG_LINE_BYTES = 1024;

/** Of what a plugin, or the engine, says went wrong. */
export const MAX_FAILURE_BYTES = 2048;

export function encodeFrame(head: ToProcess | FromProcess, body: Uint8Array = new Uint8Array()): Uint8Array {
  const headBytes = new TextEncoder().encode(JSON.stringify(head));
  const frame = new Uint8Array(FRAME_PREFIX_BYTES + headBytes.byteLength + body.byteLength);
  const view = new DataView(frame.buffer);
  view.setUint32(0, headBytes.byteLength, true);
  view.setUint32(4, body.byteLength, true);
  frame.set(headBytes, FRAME_PREFIX_BYTES);
  frame.set(body, FRAME_PREFIX_BYTES + headBytes.byteLength);
  return frame;
}

export function lengthsOf(prefix: Uint8Array): { readonly head: number; readonly body: number } {
  const view = new DataView(prefix.buffer, prefix.byteOffset, FRAME_PREFIX_BYTES);
  return { head: view.getUint32(0, true), body: view.getUint32(4, true) };
}
