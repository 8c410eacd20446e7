/** Where commands run. A backend confines; the agent only ever sees `exec`. */

export interface ExecRequest {
  /** A line for `/bin/sh -c`, or a program with its arguments, passed exactly. */
  readonly command: string | readonly [string, ...string[]];
  /** Below the workspace; default its root. */
  readonly cwd?: string;
  readonly stdin?: string;
  readonly timeoutMs?: number;
  /** Per stream; further output is dropped, and `truncated` is set. */
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal;
  /** Its output is not text: it comes as `stdoutBytes`, and `stdout` is blank. */
  readonly binary?: true;
  /** No person approved it: it finds no configuration of a home folder, and no pager, editor or helper. */
  readonly unasked?: boolean;
  /**
   * Talks with the program while it runs. `stdin`, `timeoutMs`, the time limit of the sandbox and `maxOutputBytes` of its standard output
   * don't count then: the signal ends it.
   */
  readonly interact?: (interaction: Interaction) => void;
  /** What the mark of its processes begins with (`SVC_EXEC_ID` of their environment), for who looks for them after a crash. */
  readonly markPrefix?: string;
}

/** A running program's standard streams. */
export interface Interaction {
  /** Of the group that it leads; undefined: it could not be started. */
  readonly pid: number | undefined;
  /** Resolves at once when the program itself has ended; its children may live a moment longer. */
  readonly exited: Promise<void>;
  /** Its standard output, with back-pressure. */
  readonly output: AsyncIterable<Uint8Array>;
  /** Resolves when the program can take more. Rejects when it reads no more. */
  write(chunk: Uint8Array): Promise<void>;
}

export interface ExecResult {
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Set for a `binary` request. */
  readonly stdoutBytes?: Uint8Array;
  readonly truncated: boolean;
  readonly timedOut: boolean;
  /** The limit that it ran into, where the sandbox can tell. */
  readonly limit?: SandboxLimit;
}

/** What a session must enforce. A backend that can't enforce a limit it was asked for throws SANDBOX_UNAVAILABLE. */
export interface Confinement {
  /** Absolute real path. Writable, and visible inside at the same path. */
  readonly workspace: string;
  /** Whether the network is reachable from inside. */
  readonly network: boolean;
  /** Absolute paths beyond what programs need to run, which may be read. One that is not there is not made. */
  readonly readable: readonly string[];
  /** The same, which may be written. */
  readonly writable: readonly string[];
  /** Paths that must not be visible inside, `$SVC_HOME` first; the workspace may lie in one, and is visible all the same. */
  readonly hidden: readonly string[];
  readonly limits: SandboxLimits & { readonly timeoutSecs?: number };
  /** The user that runs commands; default: the daemon's user. */
  readonly user?: { readonly uid: number; readonly gid: number };
}

/** Of one session, together. */
export interface SandboxLimits {
  readonly memoryMb?: number;
  /** Seconds of processor time. */
  readonly cpuSecs?: number;
  /** Processes and threads. */
  readonly pids?: number;
}

export type SandboxLimit = keyof SandboxLimits;

export interface SandboxBackend {
  /** The name in `[security.sandbox] backend`. */
  readonly id: string;
  /**
   * Proves by trying that it confines commands on this machine. Limits that it can't enforce are left out. Says why when it can't.
   */
  probe(confinement: Confinement, signal: AbortSignal): Promise<SandboxProbe>;
  open(confinement: Confinement): Promise<SandboxSession>;
}

export type SandboxProbe =
  | {
      readonly available: true;
      /** Of the limits that were asked for, those that it can't hold here. */
      readonly unenforced: readonly SandboxLimit[];
      /** What an operator should know all the same, a sentence each. */
      readonly notes?: readonly string[];
    }
  | { readonly available: false; readonly reason: string };

export interface SandboxSession {
  exec(request: ExecRequest): Promise<ExecResult>;
  /** Ends every process of the session. Idempotent. */
  close(): Promise<void>;
}
