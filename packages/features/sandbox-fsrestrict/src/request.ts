/** What the daemon and the child that becomes the command tell each other, as one JSON text each way. */

/** Below a folder, or a single file. */
export interface PathRule {
  readonly path: string;
  /** `read` also runs programs; a `device` is read and written. */
  readonly access: "read" | "write" | "device";
  /** One that can't be opened is left out. Default false: then nothing runs. */
  readonly optional?: boolean;
}

/** How a session's commands are confined. */
export interface Restriction {
  readonly rules: readonly PathRule[];
  readonly network: boolean;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Files of control groups: who writes `0` into one is in it. */
  readonly joins: readonly string[];
  /** Of each process, but for `pids`, which is of a user. */
  readonly limits: {
    readonly memoryMb?: number | undefined;
    readonly cpuSecs?: number | undefined;
    readonly pids?: number | undefined;
  };
}

/** The first line on descriptor 3: the child restricts itself by it at once, and then waits for a `CommandRequest`. */
export interface SandboxRequest {
  readonly kind: "command" | "trial";
  readonly restriction: Restriction;
  /** Process id of the daemon: a child of another process ends. */
  readonly daemon: number;
  /** Identifies the processes of the command: see marks.ts. */
  readonly mark: number;
  /** Where the command starts, if that is known already. */
  readonly folder?: string | undefined;
}

/** The second line. The daemon closes the descriptor after it; without it the child ends. */
export interface CommandRequest {
  readonly words: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hasInput: boolean;
  /** RLIMIT_NPROC, where the kernel counts the processes of the user and not those of the command. */
  readonly userPids?: number | undefined;
}

/** What goes out on descriptor 4: lines of JSON. The descriptor closes when the command's own program begins. */
export type Report =
  /** Everything is restricted; it waits for the command. */
  | { readonly kind: "restricted" }
  /** The program is about to begin. */
  | { readonly kind: "begins" }
  /** It did not begin, for a reason of its own (ENOENT). */
  | { readonly kind: "not-executed"; readonly errno: string }
  /** It could not be restricted. */
  | { readonly kind: "failed"; readonly step: string; readonly errno: string }
  /** Names of what got through in a trial, and the version of Landlock. */
  | { readonly kind: "tried"; readonly abi: number; readonly through: readonly string[] };

export const REQUEST_FD = 3;
export const REPORT_FD = 4;
