/** What the service answers, as far as the page reads it: docs/reference/openapi.md has all of it. Times are ISO 8601, UTC. */

export interface Device {
  readonly id: string;
  readonly name: string;
  readonly scope: "operator" | "read" | "webhook";
}

export interface PairedDevice extends Device {
  readonly created_at: string;
  readonly last_seen_at: string | null;
  readonly current: boolean;
  /** Pages that are signed in as it. */
  readonly sessions: readonly {
    readonly id: string;
    readonly browser: string;
    readonly created_at: string;
    readonly last_seen_at: string;
    readonly current: boolean;
  }[];
}

/** One use, ten minutes. */
export interface NewPairingCode {
  readonly code: string;
  readonly expires_at: string;
  /** For a browser of another machine; null: other machines can't reach the page. */
  readonly link: string | null;
}

export interface Channel {
  readonly id: string;
  readonly feature: string;
  readonly state: string;
  readonly reason: string | null;
  readonly callback_urls: readonly string[];
  readonly signed: boolean | null;
  readonly last_message_at?: string | null;
  readonly last_failure?: { readonly reason: string; readonly at: string } | null;
  readonly last_error?: { readonly code: string; readonly message: string; readonly at: string } | null;
}

export interface Minute {
  readonly at: string;
  readonly received: number;
  readonly answered: number;
  readonly delivered: number;
  readonly failed: number;
}

/** What confines the commands of the agents. */
export interface Sandbox {
  readonly effective: string;
  readonly confined: boolean;
  readonly summary: string;
  /** One command or change that adds a sandbox. */
  readonly fix: string | null;
  readonly warning: string | null;
  readonly reasons: readonly string[];
}

export interface Status {
  readonly status: "ok" | "degraded";
  readonly instance: string;
  readonly version: string;
  readonly commit: string;
  readonly profile: string;
  readonly uptime_secs: number;
  readonly url: string;
  readonly public_url: string | null;
  readonly model: { readonly provider: string; readonly name: string; readonly price_known: boolean };
  readonly agents: readonly {
    readonly name: string;
    readonly provider: string;
    readonly model: string;
    /** That can be chosen for a conversation. */
    readonly models: readonly string[];
    readonly price_known: boolean;
    readonly cost_today_usd: number;
    readonly max_cost_per_day: number | null;
    readonly client_max_cost_per_day: number | null;
  }[];
  readonly sandbox: Sandbox;
  readonly turns: { readonly running: number; readonly waiting: number };
  readonly channels: readonly Channel[];
  readonly messages: {
    readonly waiting: number;
    readonly failed: number;
    readonly outgoing: number;
    readonly dead: number;
    readonly oldest_waiting_secs: number | null;
  };
  readonly activity?: { readonly minutes: readonly Minute[] };
  /** Recordings can be written down. */
  readonly transcription: boolean;
  readonly memory_rss_bytes: number;
  readonly warnings: readonly string[];
  readonly database: { readonly bytes: number; readonly writable: boolean };
  readonly unsigned: readonly string[];
  readonly features: readonly { readonly id: string; readonly state: string; readonly reason: string | null }[];
}

export interface Conversation {
  readonly id: string;
  /** The owner's name for it. */
  readonly session_id: string;
  readonly device: { readonly id: string; readonly name: string } | null;
  readonly kind: "chat" | "channel" | "procedure";
  /** Where its people are. Null: a device or the terminal writes. */
  readonly channel: { readonly channel: string; readonly id: string; readonly thread: string | null } | null;
  /** Null: nothing was said in words. */
  readonly title: string | null;
  /** The beginning of what was said last, in one line. */
  readonly preview: string;
  /** Turns that no operator has read. */
  readonly unread: number;
  readonly pinned: boolean;
  readonly archived: boolean;
  /** Chosen for it; null: as configured. */
  readonly agent: string | null;
  readonly model: string | null;
  readonly turns: number;
  readonly running: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface ToolCall {
  readonly call_id: string;
  readonly tool: string;
  readonly input: unknown;
  readonly ok: boolean;
  readonly outcome: "done" | "failed" | "rejected";
  readonly output: unknown;
}

export interface Author {
  readonly kind: "device" | "person" | "terminal" | "anonymous";
  readonly id: string | null;
  readonly name: string | null;
}

/** A file that comes with a message. */
export interface FileInfo {
  readonly id: string;
  readonly name: string;
  /** As its bytes say. */
  readonly type: string;
  readonly size: number;
}

export interface Message {
  /** Of its turn. */
  readonly state: "done" | "stopped" | "failed" | "running" | "waiting";
  readonly kind: "message" | "continue" | "by_hand";
  readonly author: Author | null;
  /** A later attempt took the place of its turn. */
  readonly replaced: boolean;
  readonly problem: {
    readonly code: string;
    readonly reason: string;
    readonly fix: string | null;
    /** The model provider's words. */
    readonly said: string | null;
  } | null;
  readonly turn_id: string;
  readonly at: string;
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly files: readonly FileInfo[];
  readonly calls: readonly ToolCall[];
}

export interface Mail {
  readonly id: string;
  readonly state: string;
  readonly waits_for: "keys" | null;
  readonly channel: string;
  readonly conversation: { readonly id: string; readonly thread: string | null } | null;
  readonly sender: string | null;
  readonly text: string;
  readonly attempts: number;
  readonly at: string;
  readonly ended_at: string | null;
  readonly error: string | null;
  readonly turn_id: string | null;
}

export interface MailDetail extends Mail {
  readonly kind: string;
  readonly files: readonly { readonly kind: string; readonly name: string }[];
  readonly deliveries: readonly Mail[];
  readonly platform_id: string | null;
  readonly platform_status: string | null;
  readonly platform_reason: string | null;
  readonly notice: unknown;
}

export interface Inbox {
  readonly messages: readonly Mail[];
  readonly counts: {
    readonly inbox: Readonly<Record<string, number>>;
    readonly outbox: Readonly<Record<string, number>>;
  };
  readonly oldest_waiting_secs: number | null;
}

export interface Feature {
  readonly id: string;
  readonly flag: string;
  readonly kind: string;
  readonly summary: string;
  readonly included: boolean;
  readonly planned: boolean;
  readonly profiles: readonly string[];
  readonly build: string;
  readonly sections: readonly string[];
  readonly tools: readonly string[];
  readonly state: string;
  readonly reason: string | null;
}

export interface AuditEntry {
  readonly n: number;
  readonly at: string;
  readonly kind: string;
  readonly data: unknown;
  readonly hash: string;
}
