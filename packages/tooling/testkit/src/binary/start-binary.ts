/** Runs the real daemon in a home of its own on a free loopback port, for whole-binary tests. */
import type { ChildProcess } from "node:child_process";
import { temporaryHome } from "../temporary-home.ts";
import { binaryPath, spawnBinary } from "./spawn-binary.ts";

export interface StartOptions {
  /** Default: `SVC_BINARY`, else dist/minimal/svc of this checkout. */
  readonly binary?: string;
  /** `$SVC_HOME`. Default: a temporary one, removed by `close`. */
  readonly home?: string;
  /** Beside PATH, SVC_HOME and a free port. */
  readonly env?: Readonly<Record<string, string>>;
  /** After `daemon`. */
  readonly args?: readonly string[];
  /** Until it listens; only a start that hangs takes this long. Default: a minute. */
  readonly longestStartMs?: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RequestOptions {
  readonly method?: string;
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object goes as JSON. */
  readonly body?: string | object;
  readonly signal?: AbortSignal;
}

export interface RunningBinary extends AsyncDisposable {
  readonly home: string;
  readonly pid: number;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Standard output and standard error so far. */
  output(): string;
  /** Resolves when the output matches, with the match; rejects when the process ends first. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Pairs with the code that the start printed (or `code`); resolves with the token. */
  pair(code?: string): Promise<string>;
  request(path: string, options?: RequestOptions): Promise<Response>;
  readonly exited: Promise<Exit>;
  /** Default SIGTERM. Resolves when the process is gone. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
  kill9(): Promise<Exit>;
  /** Ends the process if it still runs and removes a home of our own making. Also what `await using` does. */
  close(): Promise<void>;
}

const LISTENING = /listening on (http:\/\/(?:127\.0\.0\.1|\[::1\]):\d+)/;
const CODE = /pairing code\D*(\d{6})\b/i;
/** Only a start that fails by hanging takes this long. */
const LONGEST_START_MS = 180_000;

/** Resolves when the daemon listens; rejects with its output when it ends before. */
export async function startBinary(options: StartOptions = {}): Promise<RunningBinary> {
  const own = options.home === undefined ? temporaryHome() : undefined;
  const home = options.home ?? own?.path ?? "";
  const env = { SVC__GATEWAY__PORT: "0", ...options.env };
  const child = spawnBinary(options.binary ?? binaryPath(), ["daemon", ...(options.args ?? [])], home, env);
  const { output, exited, waitFor } = watch(child);

  const stop = (signal: NodeJS.Signals = "SIGTERM") => {
    // Our own child, by its handle: never by a process id, which another process may have by now.
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return exited;
  };
  const close = async () => {
    await stop("SIGKILL");
    own?.remove();
  };

  try {
    const [, url = ""] = await withLimit(waitFor(LISTENING), output, options.longestStartMs);
    const request = (path: string, options: RequestOptions = {}) => fetch(new URL(path, url), fetchOptions(options));
    return {
      home,
      pid: child.pid ?? 0,
      url,
      output,
      waitFor,
      request,
      exited,
      stop,
      kill9: () => stop("SIGKILL"),
      close,
      [Symbol.asyncDispose]: close,
      async pair(code) {
        const headers = { "X-Pairing-Code": code ?? (await waitFor(CODE))[1] ?? "" };
        const response = await request("/pair", { method: "POST", headers });
        const { token } = (await response.json()) as { token?: string };
        if (response.status !== 200 || token === undefined) throw new Error(`pairing was answered ${response.status}`);
        return token;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function watch(child: ChildProcess) {
  let text = "";
  const looking = new Set<() => void>();
  const exited = new Promise<Exit>((resolve) => {
    child.once("error", (error) => {
      text += `\n${error.message}`;
      resolve({ code: null, signal: null });
    });
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      for (const look of looking) look();
    });
  }
  const waitFor = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(text);
        if (match === null) return;
        looking.delete(look);
        resolve(match);
      };
      looking.add(look);
      look();
      void exited.then(({ code, signal }) => {
        look();
        looking.delete(look);
        reject(new Error(`the process ended (${code ?? signal}) before it said ${String(pattern)}:\n${text}`));
      });
    });
  return { output: () => text, exited, waitFor };
}

async function withLimit<T>(work: Promise<T>, output: () => string, ms = LONGEST_START_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the daemon does not listen:\n${output()}`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function fetchOptions({ method, token, headers, body, signal }: RequestOptions): RequestInit {
  const json = typeof body === "object";
  return {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(json && { "Content-Type": "application/json" }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: json ? JSON.stringify(body) : body }),
    ...(signal !== undefined && { signal }),
  };
}
