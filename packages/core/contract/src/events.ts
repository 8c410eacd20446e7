/** What happens inside, as told to observers and subscribers. Types are noun-verb and stable. */
import type { Conversation } from "./channel.ts";
import type { ErrorCode } from "./error-codes.ts";
import type { ModelFailureReason } from "./error.ts";
import type { ClientId } from "./identity.ts";

/** Whose turn it is that an event belongs to. */
interface OfTurn {
  readonly turnId: string;
  /** Name under which the conversation goes on (X-Session-Id). */
  readonly sessionId: string;
  /** Id of the conversation among all. */
  readonly conversationId: string;
  /** Whose conversation it is: who may see it, beside operators. */
  readonly owner: ClientId;
}

export type TurnEvent = OfTurn &
  (
    | {
        readonly type: "turn-start";
        /** Name of the agent that answers. */
        readonly agent: string;
        readonly clientId: ClientId;
      }
    /** The conversation has a message that waits for the turn before it, or a reply by hand. */
    | { readonly type: "turn-store" }
    | {
        readonly type: "text-delta";
        readonly text: string;
        /** Characters of the turn's answer that were told before. */
        readonly offset: number;
      }
    | {
        /** A model call failed in a way that may pass; it is tried again after a wait. */
        readonly type: "turn-waiting";
        readonly code: ErrorCode;
        readonly reason: ModelFailureReason;
        /** For a person; nothing of the provider's words. */
        readonly message: string;
        readonly waitMs: number;
        /** The try that comes after the wait, from 2. */
        readonly attempt: number;
        /** Most tries that are made. */
        readonly attempts: number;
      }
    | { readonly type: "tool-call"; readonly callId: string; readonly tool: string }
    | {
        readonly type: "tool-result";
        readonly callId: string;
        readonly tool: string;
        readonly ok: boolean;
        /** `rejected`: a person said no, and nothing was done. */
        readonly outcome: "done" | "failed" | "rejected";
      }
    | {
        readonly type: "turn-end";
        /** Name of the agent that answered. */
        readonly agent: string;
        readonly ok: boolean;
        readonly model: string;
        readonly durationMs: number;
        readonly inputTokens: number;
        readonly outputTokens: number;
        /** US dollars; undefined when the model's price is unknown. */
        readonly costUsd: number | undefined;
      }
  );

/** A conversation has another title, was pinned, archived or read: lists of them are stale. */
export interface SessionEvent {
  readonly type: "session-updated";
  readonly id: string;
  /** As of turns. */
  readonly sessionId: string;
  /** As of turns. */
  readonly owner: ClientId;
}

export type MessageEvent =
  | {
      /** A message is on disk, and its sender may write. */
      readonly type: "message-received";
      /** As `svc inbox` shows it, e.g. `in-12`. */
      readonly messageId: string;
      readonly conversation: Conversation;
      readonly sender: string;
      /** The turn that will answer it. */
      readonly turnId: string;
    }
  | {
      /** The platform has accepted what we sent. */
      readonly type: "message-delivered";
      /** e.g. `out-12`. */
      readonly messageId: string;
      readonly conversation: Conversation;
      readonly turnId: string | undefined;
      readonly attempts: number;
    }
  | {
      /** A message was not answered (`in-…`), or an answer not delivered (`out-…`), and no further attempt follows. */
      readonly type: "message-failed";
      readonly messageId: string;
      readonly conversation: Conversation;
      readonly turnId: string | undefined;
      readonly code: ErrorCode;
    };

/** What was posted to `/api/channel-events`, approval requests apart. */
export interface ChannelEvent {
  readonly type: "channel_event";
  /** The `type` that the sender gave it. */
  readonly event: string;
  readonly title: string | undefined;
  readonly message: string | undefined;
  /** Where it goes beside the subscribers. */
  readonly channels: readonly string[];
}

export type ApprovalEvent =
  | {
      readonly type: "human_approval_request";
      readonly runId: string;
      readonly stepId: string;
      readonly origin: ApprovalOrigin;
      readonly title: string;
      readonly message: string;
      readonly channels: readonly string[];
      readonly approveKeywords: readonly string[];
      readonly rejectKeywords: readonly string[];
      /** Milliseconds since the epoch. */
      readonly expiresAtMs: number;
    }
  | {
      readonly type: "human_approval_resolved";
      readonly runId: string;
      readonly stepId: string;
      /** True only for `approved`. */
      readonly approved: boolean;
      readonly outcome: "approved" | "rejected" | "expired" | "cancelled";
      readonly feedback: string | undefined;
      /** For a person: who answered, or why no answer came. */
      readonly by: string;
    };

/** Who wants it: an outside workflow, a step of a procedure, a tool call. */
export type ApprovalOrigin = "external" | "sop" | "tool";

export type SopEvent =
  | {
      readonly type: "sop-run-start";
      readonly runId: string;
      readonly sop: string;
      readonly mode: string;
      /** For a person: what started it. */
      readonly startedBy: string;
      /** Set for a test run. */
      readonly isTest?: true;
    }
  | {
      readonly type: "sop-run-step";
      readonly runId: string;
      readonly sop: string;
      /** From 1. */
      readonly step: number;
      readonly status: "running" | "waiting_approval" | "completed" | "failed";
      /** Set for a test run. */
      readonly isTest?: true;
    }
  | {
      readonly type: "sop-run-end";
      readonly runId: string;
      readonly sop: string;
      readonly status: "completed" | "failed" | "cancelled";
      readonly error: ErrorCode | undefined;
      readonly durationMs: number;
      /** Set for a test run. */
      readonly isTest?: true;
    }
  /** Files of procedures were read anew. */
  | { readonly type: "sop-change" };

/** The state of a channel's feature has changed. */
export interface ChannelHealthEvent {
  readonly type: "channel-health";
  readonly channel: string;
  readonly feature: string;
  readonly state: string;
  readonly reason: string | undefined;
}

/** Boards were connected or disconnected. */
export interface HardwareChangedEvent {
  readonly type: "hardware-changed";
  /** Aliases, e.g. `pico0`. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Boards that are connected now. */
  readonly connected: number;
}

/** What a robot was asked to do, and what became of it. Of the feature `safety`. */
export type SafetyEvent =
  | {
      readonly type: "safety-request";
      readonly direction: string;
      /** Metres a second. */
      readonly speed: number;
      /** Metres. */
      readonly distance: number | undefined;
      readonly seconds: number | undefined;
      /** For a person: who asked. */
      readonly by: string;
    }
  | {
      /** A request was not carried out; nothing moved. */
      readonly type: "safety-refuse";
      readonly reason: string;
      readonly message: string;
      readonly by: string;
    }
  | {
      /** A movement ended, or the robot was told to stop while it stood. */
      readonly type: "safety-stop";
      readonly reason: string;
      readonly message: string;
      /** The safety layer that stopped it, 1 to 5; undefined: it was told to, or had arrived. */
      readonly layer: number | undefined;
      /** Metres, as the commands were; an upper bound. */
      readonly travelled: number;
      /** The board has confirmed the stop; false: its own timer stops the motors. */
      readonly confirmed: boolean;
      /** Only a person can release it. */
      readonly latched: boolean;
      readonly by: string;
    }
  | {
      /** A person released the latch. */
      readonly type: "safety-reset";
      readonly by: string;
    };

/** A child agent has another state. Of the feature `agents`. */
export interface ChildAgentEvent {
  readonly type: "agent-changed";
  readonly agentId: string;
  readonly title: string;
  /** Id of the child agent that made it; undefined: a turn, a procedure or a person did. */
  readonly parent: string | undefined;
  /** `svc`, or the name of the program. */
  readonly program: string;
  readonly status: ChildAgentStatus;
  /** Why it failed or was closed, for a person. */
  readonly reason: string | undefined;
  /** US dollars; undefined when the price is unknown. */
  readonly costUsd: number | undefined;
}

export type ChildAgentStatus = "initializing" | "running" | "idle" | "error" | "closed";

/** What a channel that listens does at the moment. */
export interface VoiceStateEvent {
  readonly type: "voice-state";
  readonly channel: string;
  readonly state: VoiceState;
  /** Recordings transcribed in the last hour, and the most there may be. */
  readonly transcriptions: number;
  readonly limit: number;
  /** US dollars for those of the last hour; undefined when the price is unknown. */
  readonly costUsd: number | undefined;
}

/**
 * `listening`: for the wake word. `triggered`: it was said, and a command is waited for. `capturing`: a command is being said.
 * `processing`: what was said is being transcribed. `stopped`: nothing is heard.
 */
export type VoiceState = "listening" | "triggered" | "capturing" | "processing" | "stopped";

export type SvcEvent =
  | TurnEvent
  | SessionEvent
  | MessageEvent
  | ChannelEvent
  | ApprovalEvent
  | SopEvent
  | ChannelHealthEvent
  | HardwareChangedEvent
  | SafetyEvent
  | ChildAgentEvent
  | VoiceStateEvent;
