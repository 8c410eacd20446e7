/** Procedures, their runs and approvals, as the service answers. */

export interface Approval {
  readonly n: number;
  readonly run_id: string;
  readonly step_id: string;
  readonly origin: "external" | "sop" | "tool";
  readonly title: string;
  readonly message: string;
  readonly approve_keywords: readonly string[];
  readonly reject_keywords: readonly string[];
  readonly channels: readonly string[];
  readonly asked_by: string;
  readonly status: "waiting" | "approved" | "rejected" | "expired" | "cancelled";
  readonly created_at: string;
  readonly expires_at: string;
  readonly prompts: readonly {
    readonly channel: string;
    readonly conversation: string;
    readonly thread: string | null;
  }[];
  readonly answer: {
    readonly approved: boolean;
    readonly feedback: string | null;
    readonly by: string;
    readonly via: string;
    readonly at: string;
    readonly holds: "once" | "conversation" | "always" | null;
  } | null;
  readonly detail: CallDetail | null;
  readonly offers: {
    /** What calls it would cover; null: it can't be chosen. */
    readonly conversation: string | null;
    readonly always: string | null;
    readonly reason: string | null;
  };
}

/** A tool call as people are shown it. */
export interface CallDetail {
  readonly tool: string;
  readonly agent: string;
  readonly reason: string;
  readonly summary: string;
  readonly command?: string;
  readonly folder?: string;
  readonly change?: FileChange;
  readonly input?: string;
}

export interface FileChange {
  readonly path: string;
  readonly mode: "replace" | "append";
  readonly before: "text" | "binary" | "large" | "missing" | "unreadable";
  /** Each behind `+`, `-` or a blank; `@` stands for lines that are left out. */
  readonly lines: readonly string[];
  readonly added: number;
  readonly removed: number;
  readonly cut: number;
}

/** A call that runs without asking. */
export interface PolicyRule {
  readonly id: string;
  readonly agent: string;
  readonly tool: string;
  readonly pattern: string;
}

export interface Trigger {
  readonly type: "webhook" | "cron" | "channel_event" | "mqtt" | "peripheral" | "manual";
  readonly condition: string | null;
  readonly path?: string;
  readonly expression?: string;
  readonly timezone?: string | null;
  readonly next_at?: string | null;
  readonly event?: string;
  readonly topic?: string;
  readonly board?: string;
  readonly signal?: string;
}

export interface Procedure {
  readonly name: string;
  readonly enabled: boolean;
  readonly description: string;
  readonly version: string;
  readonly priority: string;
  readonly execution_mode: string;
  readonly cooldown_secs: number;
  readonly max_concurrent: number;
  readonly agent: string | null;
  readonly triggers: readonly Trigger[];
  readonly steps: readonly {
    readonly number: number;
    readonly title: string;
    readonly kind: string;
    readonly tools: readonly string[];
    readonly requires_confirmation: boolean;
  }[];
  readonly active_runs: number;
  readonly last_run: Run | null;
  readonly problem: string | null;
}

export interface Procedures {
  readonly sops: readonly Procedure[];
  readonly broken: readonly { readonly name: string; readonly problem: string }[];
}

export type RunStatus = "pending" | "running" | "waiting_approval" | "completed" | "failed" | "cancelled";

export interface Run {
  readonly id: string;
  readonly n: number;
  readonly sop: string;
  readonly status: RunStatus;
  readonly mode: string;
  readonly step: number;
  readonly source: string;
  readonly topic: string;
  readonly started_by: string;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly error: string | null;
  readonly reason: string | null;
  readonly test: boolean;
  readonly retry_of: string | null;
  readonly first_step: number;
}

export interface RunStep {
  readonly number: number;
  readonly title: string;
  readonly kind: string;
  readonly status: RunStatus;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly output: unknown;
  /** The earlier run in which it may have acted already. */
  readonly acted_in: string | null;
  readonly approval: Approval | null;
}

export interface RunDetail extends Run {
  readonly payload: string | null;
  readonly steps: readonly RunStep[];
}
