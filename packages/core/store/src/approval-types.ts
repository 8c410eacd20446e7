/** Approvals on disk. */
import type { ApprovalOrigin, ClientId, Conversation, Json } from "@svc/contract";

export type ApprovalStatus = "waiting" | "approved" | "rejected" | "expired" | "cancelled";

/** One thing that waits, or waited, for a person's yes. (`runId`, `stepId`) is unique. */
export interface Approval {
  /** Order of being asked. People call it `#12`. */
  readonly n: number;
  readonly runId: string;
  readonly stepId: string;
  readonly origin: ApprovalOrigin;
  readonly title: string;
  readonly message: string;
  readonly approveKeywords: readonly string[];
  readonly rejectKeywords: readonly string[];
  /** As the sender named them; of an `external` one. */
  readonly channels: readonly string[];
  /** For a person: who wants it. */
  readonly askedBy: string;
  /** What tells this request from another one with the same key: hex SHA-256 of all that was asked. */
  readonly digest: string;
  readonly status: ApprovalStatus;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** Where the prompt went. */
  readonly prompts: readonly ApprovalPrompt[];
  /** Once it is no longer waiting. */
  readonly answer: ApprovalAnswer | undefined;
  /** Id of the event that told of it. */
  readonly eventId: string | undefined;
  /** Of a tool call: what it would do, for people, without secrets. */
  readonly detail?: Json;
  /** Of a tool call: for how long a yes may hold, and for what. */
  readonly offers?: ApprovalOffers;
}

export interface ApprovalOffers {
  readonly conversation?: OfferedPattern & { readonly place: GrantPlace };
  /** `rule`: as the config has it. */
  readonly always?: OfferedPattern & { readonly rule: Json };
  /** Why one is missing, as a sentence. */
  readonly reason?: string;
}

export interface OfferedPattern {
  readonly key: string;
  /** For the person who chooses it. */
  readonly text: string;
}

/** Where a yes holds: in a conversation, for one who speaks there, and one agent. */
export interface GrantPlace {
  readonly owner: ClientId;
  /** What the owner calls the conversation. */
  readonly name: string;
  /** Empty: whoever has the conversation. */
  readonly sender: string;
  readonly agent: string;
}

/** `once`: for this call. */
export type ApprovalHold = "once" | "conversation" | "always";

export interface ApprovalPrompt {
  readonly conversation: Conversation;
  /** What the question opened there, a thread or a chat: answers count in it too. */
  readonly opened: Conversation | undefined;
  /** Of the outbox row. */
  readonly delivery: number;
}

export interface ApprovalAnswer {
  readonly feedback: string | undefined;
  /** For a person: who answered, or why nobody did. */
  readonly by: string;
  readonly via: "chat" | "api" | "page" | "cli" | "agent" | "service";
  readonly atMs: number;
  /** Of a yes: for how long. Default: once. */
  readonly holds?: ApprovalHold | undefined;
}
