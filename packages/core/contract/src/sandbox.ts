/** Where commands run. A backend confines; the agent only ever sees `exec`. */

export interface ExecRequest {
  /** A line for `/bin/sh -c`, or a program with its arguments, passed exactly. */
  readonly command: string | readonly [string, ...string[]];
  /** Below the workspace; default its root. */
  readonly cwd?: string;
  readonly stdin?: string;
  readonly timeoutMs?: number;
  /** Per stream; what is beyond is dropped and said. */
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal;
}

export interface ExecResult {
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly timedOut: boolean;
}

/** What a session must enforce. A backend that can't enforce a limit it was asked for throws SANDBOX_UNAVAILABLE. */
export interface Confinement {
  readonly workspace: string;
  /** Whether the network is reachable from inside. */
  readonly network: boolean;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** Paths that must not be visible inside, `$SVC_HOME` first. */
  readonly hidden: readonly string[];
  readonly limits: {
    readonly memoryMb?: number;
    readonly cpuSecs?: number;
    readonly pids?: number;
    readonly timeoutSecs?: number;
  };
}

export interface SandboxBackend {
  /** The name in `[security.sandbox] backend`. */
  readonly id: string;
  /** Proves that it confines here and now, or says why not. */
  probe(signal: AbortSignal): Promise<{ available: true } | { available: false; reason: string }>;
  open(confinement: Confinement): Promise<SandboxSession>;
}

export interface SandboxSession {
  exec(request: ExecRequest): Promise<ExecResult>;
  /** Ends every process of the session. Idempotent. */
  close(): Promise<void>;
}
