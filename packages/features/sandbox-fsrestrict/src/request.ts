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

/** What comes in on descriptor 3. */
export interface SandboxRequest {
  readonly restriction: Restriction;
  /** Process id of the daemon: a child of anybody else ends. */
  readonly daemon: number;
  /** What the command's processes are known by: see marks.ts. */
  readonly mark: number;
  /** Commands of the daemon that run at this time, this one included. */
  readonly running: number;
  readonly run: CommandRequest | TrialRequest;
}

export interface CommandRequest {
  readonly kind: "command";
  readonly words: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hasInput: boolean;
}

/** Tries what has to fail, from inside, and ends. */
export interface TrialRequest {
  readonly kind: "trial";
}

/** What goes out on descriptor 4: lines of JSON. The descriptor closes when the command's own program begins. */
export type Report =
  /** Everything is restricted, and the program is about to begin. */
  | { readonly kind: "restricted" }
  /** It did not begin, for a reason of its own (ENOENT). */
  | { readonly kind: "not-executed"; readonly errno: string }
  /** It could not be restricted. */
  | { readonly kind: "failed"; readonly step: string; readonly errno: string }
  /** Names of what got through in a trial, and the version of Landlock. */
  | { readonly kind: "tried"; readonly abi: number; readonly through: readonly string[] };

export const REQUEST_FD = 3;
export const REPORT_FD = 4;
