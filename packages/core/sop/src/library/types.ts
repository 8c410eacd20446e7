/** Procedures as their files define them, and what starts them. */

export type ExecutionMode = "auto" | "supervised" | "step_by_step" | "priority_based" | "deterministic";
export type Priority = "low" | "normal" | "high" | "critical";

export interface SopDefinition {
  /** Folder name. */
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly priority: Priority;
  /** As the file says, or `sop.default_execution_mode`. */
  readonly mode: ExecutionMode;
  readonly cooldownMs: number;
  readonly maxConcurrent: number;
  /** Without it the default agent. */
  readonly agent: string | undefined;
  readonly triggers: readonly SopTrigger[];
  readonly steps: readonly SopStep[];
  /** Nothing starts it but a test. */
  readonly isDisabled?: true;
  /** What SOP.md says beside its steps: given to the model with each of them. */
  readonly instructions: string;
}

export type SopTrigger = (
  | { readonly type: "webhook"; readonly path: string }
  | { readonly type: "cron"; readonly expression: string; readonly timezone: string | undefined }
  | { readonly type: "channel_event"; readonly event: string }
  /** `topic`: a filter, with `+` and `#`. */
  | { readonly type: "mqtt"; readonly topic: string }
  /** `board`: its alias. */
  | { readonly type: "peripheral"; readonly board: string; readonly signal: string }
  | { readonly type: "manual" }
) & { readonly condition: string | undefined };

export interface SopStep {
  /** From 1. */
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly kind: "execute" | "checkpoint";
  readonly requiresConfirmation: boolean;
  readonly tools: readonly string[];
  /** A child agent does it: `svc`, or a name of `[agents_pool.programs]`. */
  readonly agent?: string;
  /** Of a deterministic one. */
  readonly call?: {
    readonly tool: string;
    readonly args: { readonly [name: string]: unknown };
    readonly trustedInput: boolean;
  };
  /** Of a run that retries: the earlier run in which this step may have acted already. */
  readonly actedIn?: string;
}

/** Something that happened and may start procedures. */
export interface SopTriggerEvent {
  readonly source: "webhook" | "channel_event" | "cron" | "mqtt" | "peripheral" | "manual";
  /** The path, the event's type, the cron expression, the topic, `board/signal`; of `manual` the procedure's name. */
  readonly topic: string;
  /** JSON text; null: none. */
  readonly payload: string | null;
}

/** A procedure as it is loaded: its last good version, and what is wrong with the newest. */
export interface LoadedSop {
  readonly definition: SopDefinition;
  /** The files have changed and are wrong since; the version before counts. A sentence with file and line. */
  readonly problem: string | undefined;
}

/** A procedure that never was good. */
export interface BrokenSop {
  readonly name: string;
  readonly problem: string;
}

export interface SopLibrary {
  /** In order of their names. */
  list(): readonly LoadedSop[];
  get(name: string): LoadedSop | undefined;
  broken(): readonly BrokenSop[];
  /** Procedures with a trigger that the event fits, condition included; each once. Cost does not grow with their number. */
  matching(event: SopTriggerEvent): readonly SopDefinition[];
  /** Whether some `webhook` trigger has exactly this path. */
  hasPath(path: string): boolean;
  /** Every cron trigger of the procedures that are enabled. */
  crons(): readonly { readonly sop: string; readonly expression: string; readonly timezone: string | undefined }[];
  /** Reads the folder again. Never throws; what is wrong is in `list` and `broken`, and in the log. */
  reload(): Promise<void>;
  /** Runs `act` while the folder is not read: what it writes is seen as a whole. */
  exclusively<Result>(act: () => Promise<Result>): Promise<Result>;
  /** Called after every change. */
  onChange(listener: () => void): void;
  /** Follows the folder. */
  watch(): void;
  stop(): void;
}

/** What procedures and their files are called. */
export const SOP_TOML = "SOP.toml";
export const SOP_MD = "SOP.md";

/** Of the folder. */
export const SOP_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
export const NAME_RULE = "a procedure's folder is named a-z 0-9 _ -, beginning with a letter or digit, at most 64";
