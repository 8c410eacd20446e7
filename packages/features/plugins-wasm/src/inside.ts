/** One call of a plugin: a new instance with new memory, so that calls share no data. */
import { type CallContext, createPlugin } from "@extism/extism";
import { readSync, writeSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import {
  encodeFrame,
  type FailureKind,
  FRAME_PREFIX_BYTES,
  type FromProcess,
  lengthsOf,
  LIFELINE,
  MAX_FAILURE_BYTES,
  MAX_HEAD_BYTES,
  MAX_HTTP_BODY_BYTES,
  MAX_LOG_LINE_BYTES,
  MAX_LOG_LINES,
  type PluginRequest,
  type ProcessLimits,
  type ToProcess,
} from "./frames.ts";
import { ABORT, ENTRY_POINT, HOST_MODULE } from "./module.ts";

export type CallEnd =
  | { readonly output: Uint8Array }
  | { readonly how: FailureKind; readonly text: Uint8Array | undefined };

/** Never rejects. `input` has its buffer for itself. */
export async function runCall(
  module: WasmModule,
  limits: ProcessLimits,
  input: Uint8Array<ArrayBuffer>,
): Promise<CallEnd> {
  const said: Said = {};
  try {
    const plugin = await createPlugin(
      { wasm: [{ module }] },
      {
        useWasi: false,
        runInWorker: false,
        functions: hostFunctions(limits, said),
        allowedHosts: [],
        allowedPaths: {},
        logger: silent(),
        // Extism looks keys up with `in`, which finds those of every object.
        config: Object.create(null) as Record<string, string>,
      },
    );
    const result = resultOf(await plugin.getInstance());
    await plugin.call(ENTRY_POINT, input);
    const code = result();
    if (said.error) return { how: "reported", text: said.error };
    if (code !== undefined && Number(code) !== 0)
      return failed("crashed", `it ended with ${Number(code)}, which is no 0`);
    return { output: said.output?.() ?? new Uint8Array() };
  } catch (error) {
    return said.error ? { how: "reported", text: said.error } : failureOf(error);
  }
}

/**
 * Extism drops the return value of the entry point, with which a plugin without an error message reports a failure. This makes
 * the instance report it.
 */
function resultOf(instance: WasmInstance): () => unknown {
  const entry = instance.exports[ENTRY_POINT] as () => unknown;
  let result: unknown;
  const entryPoint = () => {
    result = entry();
  };
  Object.defineProperty(instance, "exports", { value: { ...instance.exports, [ENTRY_POINT]: entryPoint } });
  return () => result;
}

function failureOf(error: unknown): CallEnd {
  if (error instanceof HostStop) return failed("stopped", error.message);
  if (error instanceof engine.CompileError || error instanceof engine.LinkError) {
    return failed("invalid", error.message);
  }
  return failed("crashed", error instanceof Error ? error.message : "it threw an uncaught error");
}

export const failed = (how: FailureKind, text: string): CallEnd => ({
  how,
  text: new TextEncoder().encode(text).subarray(0, MAX_FAILURE_BYTES),
});

function silent(): Console {
  const say = (): void => undefined;
  return { debug: say, info: say, warn: say, error: say } as Console;
}

// The functions of the host that Extism 1.0.3 has without bounds, without a service behind them, or not at all: memory, output,
// variables, log, HTTP. The others that a plugin is given are Extism's own. One set is for one call.

/** The plugin's output and error of one call. */
interface Said {
  /** Reads what it has set as its output, as that is then. */
  output?: () => Uint8Array;
  error?: Uint8Array;
}

type HostFunctions = Record<string, Record<string, (context: CallContext, ...args: any[]) => unknown>>;

function hostFunctions(limits: ProcessLimits, said: Said): HostFunctions {
  const memory = new HostMemory(limits.maxHostBytes);
  return {
    [HOST_MODULE]: {
      alloc: (context, size: bigint) => memory.alloc(context, size),
      output_set(context, address: bigint, length: bigint) {
        const bytes = bytesAt(context, address);
        const size = BigInt.asUintN(64, length);
        if (!bytes || size > bytes.byteLength) throw new HostStop("its output is outside of the memory it has.");
        if (size > limits.maxOutputBytes) {
          throw new HostStop(`its output is larger than ${limits.maxOutputBytes} bytes, which is all it may give.`);
        }
        said.output = () => bytes.subarray(0, Number(size));
      },
      error_set(context, address: bigint) {
        said.error = bytesAt(context, address)?.slice(0, MAX_FAILURE_BYTES) ?? new Uint8Array();
      },
      ...variables(),
      ...logging(),
      ...httpFunctions(memory),
    },
    [ABORT.module]: {
      [ABORT.name](_context, _message: number, _file: number, line: number, column: number) {
        throw new Error(`abort at line ${line}, column ${column}`);
      },
    },
  };
}

/** They live as long as the call: what one client's call leaves behind is not another's to find. */
function variables(): HostFunctions[string] {
  const values = new Map<string, bigint>();
  return {
    var_get: (context, key: bigint) => values.get(textAt(context, key) ?? "") ?? 0n,
    var_set(context, key: bigint, value: bigint) {
      const name = textAt(context, key);
      if (name === undefined) return;
      if (value === 0n) values.delete(name);
      else if (values.size < MAX_VARIABLES || values.has(name)) values.set(name, value);
      else throw new HostStop(`it set more than ${MAX_VARIABLES} variables.`);
    },
  };
}

const MAX_VARIABLES = 128;

function logging(): HostFunctions[string] {
  let lines = 0;
  const log = (context: CallContext, address: bigint): void => {
    lines += 1;
    if (lines > MAX_LOG_LINES) return;
    send({ kind: "log" }, bytesAt(context, address)?.subarray(0, MAX_LOG_LINE_BYTES));
  };
  return {
    log_trace: log,
    log_debug: log,
    log_info: log,
    log_warn: log,
    log_error: log,
    // All are taken, from 0, trace: https://github.com/extism/extism/blob/main/runtime/src/pdk.rs
    get_log_level: () => 0,
  };
}

// HTTP for plugins. The service makes the requests; the plugin blocks until the answer.

/** The function returns the body; the plugin reads status and headers with later calls. */
function httpFunctions(memory: HostMemory): HostFunctions[string] {
  let status = 0;
  let headers: Readonly<Record<string, string>> = {};
  return {
    http_request(context, requestAt: bigint, bodyAt: bigint) {
      const request = requestOf(textAt(context, requestAt));
      const body = isBodiless(request.method) ? undefined : bodyOf(context, bodyAt);
      if (JSON.stringify(request).length > MAX_HEAD_BYTES / 8) throw new HostStop("its request's head is too long.");
      send({ kind: "request", ...request }, body);
      const answer = receive();
      // No one is there to be told.
      if (answer === undefined) process.exit(0);
      if (answer.head.kind !== "answer") throw new HostStop(new TextDecoder().decode(answer.body));
      ({ status, headers } = answer.head);
      return memory.store(context, answer.body);
    },
    http_status_code: () => status,
    http_headers: (context) =>
      memory.store(context, Uint8Array.from(new TextEncoder().encode(JSON.stringify(headers)))),
  };
}

/** As plugins write it: https://github.com/extism/extism/blob/main/manifest/src/lib.rs (`HttpRequest`). */
function requestOf(text: string | undefined): PluginRequest {
  const { url, method = "GET", headers, header } = objectOf(text);
  const given = headers ?? header ?? {};
  if (typeof url !== "string" || typeof method !== "string" || !isHeaders(given)) {
    throw new HostStop("its request is malformed.");
  }
  return { url, method: method.toUpperCase(), headers: given };
}

function objectOf(text = ""): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const isHeaders = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === "string");

function bodyOf(context: CallContext, at: bigint): Uint8Array | undefined {
  const body = at === 0n ? undefined : bytesAt(context, at);
  if (body && body.byteLength > MAX_HTTP_BODY_BYTES) throw new HostStop("its request's body is too large.");
  return body;
}

const isBodiless = (method: string): boolean => method === "GET" || method === "HEAD";

/**
 * What one call has of the host: blocks that Extism gives out as often, and as large, as they are asked for
 * (https://extism.org/docs/concepts/memory). An address is a block's number in its upper 16 bits, and a place in the block.
 */
class HostMemory {
  #left: number;
  /** By address, those that are freed among them until room is needed. */
  readonly #sizes = new Map<bigint, number>();
  #blocks = 0;

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  alloc(context: CallContext, size: bigint): bigint {
    this.#reserve(context, BigInt.asUintN(64, size));
    return this.#note(context.alloc(size), Number(size));
  }

  /** `bytes` must have their buffer for themselves: it becomes the block. */
  store(context: CallContext, bytes: Uint8Array<ArrayBuffer>): bigint {
    this.#reserve(context, BigInt(bytes.byteLength));
    return this.#note(context.store(bytes), bytes.byteLength);
  }

  #reserve(context: CallContext, size: bigint): void {
    if (size > this.#left) this.#sweep(context);
    if (size > this.#left) throw new HostStop("it asked for more memory of the host than it may have.");
    // Beyond, addresses would be those of other blocks.
    if (this.#blocks >= MAX_BLOCKS) throw new HostStop("it asked for memory of the host too often.");
    this.#blocks += 1;
    this.#left -= Number(size);
  }

  #note(address: bigint, size: number): bigint {
    this.#sizes.set(address, size);
    return address;
  }

  /** Takes back what the plugin has freed. */
  #sweep(context: CallContext): void {
    for (const [address, size] of this.#sizes) {
      if (size === 0 || context.length(address) > 0n) continue;
      this.#sizes.delete(address);
      this.#left += size;
    }
  }
}

const MAX_BLOCKS = 30_000;

/** The bytes from an address to the end of its block, which change as the plugin changes them; undefined: it is missing. */
function bytesAt(context: CallContext, address: bigint): Uint8Array | undefined {
  return context
    .read(address)
    ?.bytes()
    .subarray(Number(BigInt.asUintN(48, address)));
}

function textAt(context: CallContext, address: bigint): string | undefined {
  const bytes = bytesAt(context, address);
  return bytes && new TextDecoder().decode(bytes);
}

/**
 * The process's way to the service: it waits where it reads, since a host function of a plugin can't wait in another way.
 */
export interface ServiceFrame {
  readonly head: ToProcess;
  /** Of its own: no other's bytes are in its buffer. */
  readonly body: Uint8Array<ArrayBuffer>;
}

const [INPUT, OUTPUT] = [0, 1];

/** undefined: the service is gone, or has done with this process. */
export function receive(): ServiceFrame | undefined {
  const prefix = read(FRAME_PREFIX_BYTES);
  if (prefix === undefined) return undefined;
  const lengths = lengthsOf(prefix);
  const head = read(lengths.head);
  const body = read(lengths.body);
  if (head === undefined || body === undefined) return undefined;
  return { head: JSON.parse(new TextDecoder().decode(head)) as ToProcess, body };
}

export function send(head: FromProcess, body?: Uint8Array): void {
  const frame = encodeFrame(head, body);
  for (let at = 0; at < frame.byteLength;) at += writeSync(OUTPUT, frame, at);
}

function read(length: number): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = readSync(INPUT, bytes, at, length - at, null);
    if (count === 0) return undefined;
    at += count;
  }
  return bytes;
}

// The WebAssembly engine of this process, bounded before it sees the module.

/**
 * Extism bounds neither: a module's memory may grow as far as it says itself, or as far as there is any. The engine takes
 * these for modules and instances that are made from now on; growing beyond is answered with -1, as the standard says.
 */
export function boundEngine({ maxPages }: ProcessLimits): void {
  setFlagsFromString(`--wasm-max-mem-pages=${maxPages}`);
  setFlagsFromString(`--wasm-max-table-size=${MAX_TABLE_ENTRIES}`);
}

/** 8 bytes each. */
const MAX_TABLE_ENTRIES = 200_000;

/**
 * Gives back the memories of calls that are over, when they have come to more than one call may use: the engine takes its time,
 * and anyone who watches this process from outside can't tell them from one that is in use. Not while someone waits.
 */
export function memoryKeeper({ maxPages }: ProcessLimits): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const enough = process.memoryUsage.rss() + Math.max(maxPages * 65_536, 33_554_432);
  return () => {
    if (process.memoryUsage.rss() > enough) collect();
  };
}

// The engine's interface, https://webassembly.github.io/spec/js-api/, as far as it is used: TypeScript knows it in browsers only.

/** Opaque. */
export type WasmModule = object;

interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

type ErrorClass = new () => Error;

interface WebAssemblyInterface {
  compile(bytes: Uint8Array<ArrayBuffer>): Promise<WasmModule>;
  readonly CompileError: ErrorClass;
  readonly LinkError: ErrorClass;
}

export const { WebAssembly: engine } = globalThis as unknown as { readonly WebAssembly: WebAssemblyInterface };

/** Thrown by a function of the host where it won't go on; the sentence is for anyone who called the plugin. */
class HostStop extends Error {}

/**
 * Ends this process when the service ends, however it does: a plugin in an endless loop never gets to see its input end. The
 * pipe is one that no one writes to, so that reading from it returns when the other end is gone.
 */
export function endWithService(): void {
  // There, what is not one of the three standard streams can't be read like this. A loop without a service ends at no time.
  if (process.platform === "win32") return;
  // As a text: a binary has no file that a worker could be loaded from.
  const watch = `try { require("node:fs").readSync(${LIFELINE}, new Uint8Array(1)); } finally { process.kill(process.pid, "SIGKILL"); }`;
  // Its own output: to join it with this process's, Node would take that one over, and writing there would wait no more.
  new Worker(watch, { eval: true, env: {}, stdout: true, stderr: true }).unref();
}
