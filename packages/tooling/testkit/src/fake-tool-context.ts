/** What a tool is handed, without a daemon: files in memory, commands and requests that answer what a test says. */
import {
  SvcError,
  type ClientId,
  type DocumentReader,
  type ExecRequest,
  type ExecResult,
  type FetchOptions,
  type FetchResult,
  type ToolContext,
} from "@svc/contract";
import { captureLogger } from "./capture-logger.ts";
import { fakeWorkspace } from "./fake-workspace.ts";

export interface FakeToolContextOptions {
  /** Workspace files: relative path to text. */
  readonly files?: Readonly<Record<string, string>>;
  readonly exec?: (request: ExecRequest) => Partial<ExecResult>;
  readonly fetch?: (url: string, options: FetchOptions) => Partial<FetchResult>;
  readonly readers?: readonly DocumentReader[];
  readonly signal?: AbortSignal;
  /** Everything the tool asks for is there in abundance: as much as it asked for, 8 MiB when it set no limit. */
  readonly huge?: boolean;
  /** Everything the tool asks for fails with an SvcError. */
  readonly broken?: boolean;
  /** Everything the tool asks for waits until the signal is aborted. */
  readonly hang?: boolean;
}

const HUGE_BYTES = 8_388_608;

export function fakeToolContext(options: FakeToolContextOptions = {}): ToolContext {
  const signal = options.signal ?? new AbortController().signal;
  const ask = async <T>(answer: () => T, own?: AbortSignal): Promise<T> => {
    const either = own === undefined ? signal : AbortSignal.any([signal, own]);
    either.throwIfAborted();
    if (options.hang === true) await untilAborted(either);
    if (options.broken === true) throw new SvcError("TOOL_FAILED", "Everything is broken.");
    return answer();
  };
  const hugeBytes = (limit: number | undefined) => new Uint8Array(Math.min(limit ?? HUGE_BYTES, HUGE_BYTES)).fill(0x61);

  return {
    clientId: "client-of-a-test" as ClientId,
    signal,
    log: captureLogger(),
    workspace: fakeWorkspace(options.files ?? {}, ask, options.huge === true ? hugeBytes : undefined),
    exec: (request) =>
      ask(() => {
        const result = { exitCode: 0, signal: null, stdout: "", stderr: "", truncated: false, timedOut: false };
        if (options.huge !== true) return { ...result, ...options.exec?.(request) };
        const stdout = "a".repeat(hugeBytes(request.maxOutputBytes).length);
        return { ...result, stdout, stderr: stdout, truncated: true };
      }, request.signal),
    fetch: (url, request = {}) =>
      ask(() => {
        const result = { status: 200, headers: {}, bytes: new Uint8Array(), truncated: false, url };
        if (options.huge !== true) return { ...result, ...options.fetch?.(url, request) };
        const headers = { "content-type": "text/plain", "x-long": "a".repeat(16_384) };
        return { ...result, headers, bytes: hugeBytes(request.maxBytes), truncated: true };
      }, request.signal),
    reader: (type) => options.readers?.find((reader) => reader.type === type),
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
