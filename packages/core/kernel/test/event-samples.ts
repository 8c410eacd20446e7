/** One event of each type, with every optional part left out where it may be. */
import type { ClientId, SvcEvent } from "@svc/contract";

const turn = { turnId: "t-1", sessionId: "s", conversationId: "c-1", owner: "client-secret" as ClientId };
const conversation = { channel: "c", id: "room" };
const used = { inputTokens: 1, outputTokens: 2, costUsd: undefined };

export const SAMPLES: readonly SvcEvent[] = [
  { type: "turn-start", ...turn, agent: "default", clientId: "client-secret" as ClientId },
  { type: "text-delta", ...turn, text: "hi", offset: 0 },
  {
    type: "turn-waiting",
    ...turn,
    code: "MODEL_REFUSED",
    reason: "rate-limited",
    message: "The model provider's rate limit is reached (429).",
    waitMs: 6999.6,
    attempt: 2,
    attempts: 4,
  },
  { type: "tool-call", ...turn, callId: "c-1", tool: "shell" },
  { type: "tool-result", ...turn, callId: "c-1", tool: "shell", ok: true, outcome: "done" },
  { type: "turn-end", ...turn, agent: "default", ok: true, model: "m", durationMs: 3, ...used },
  { type: "message-received", messageId: "in-1", conversation, sender: "+49", turnId: "t-1" },
  { type: "message-delivered", messageId: "out-1", conversation, turnId: undefined, attempts: 1 },
  { type: "message-failed", messageId: "out-1", conversation, turnId: "t-1", code: "DELIVERY_REFUSED" },
  { type: "channel_event", event: "build", title: undefined, message: undefined, channels: ["dashboard"] },
  {
    type: "human_approval_request",
    runId: "r",
    stepId: "s",
    origin: "external",
    title: "Deploy?",
    message: "v2",
    channels: [],
    approveKeywords: ["yes"],
    rejectKeywords: ["no"],
    expiresAtMs: 0,
  },
  {
    type: "human_approval_resolved",
    runId: "r",
    stepId: "s",
    approved: true,
    outcome: "approved",
    feedback: undefined,
    by: "Ann",
  },
  { type: "sop-run-start", runId: "r", sop: "deploy", mode: "auto", startedBy: "cron" },
  { type: "sop-run-step", runId: "r", sop: "deploy", step: 1, status: "running" },
  { type: "sop-run-end", runId: "r", sop: "deploy", status: "completed", error: undefined, durationMs: 5 },
  { type: "channel-health", channel: "c", feature: "channel-c", state: "failed", reason: undefined },
  { type: "hardware-changed", added: ["pico0"], removed: ["arduino0"], connected: 1 },
  { type: "voice-state", channel: "c", state: "capturing", transcriptions: 3, limit: 120, costUsd: undefined },
  { type: "turn-store", ...turn },
  { type: "session-updated", id: "s-1", sessionId: "s", owner: "client-secret" as ClientId },
];
