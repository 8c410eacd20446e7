/** One piece of work of each kind, and how it ends well. */
import type { WorkFacts, WorkKind, WorkResults } from "@svc/contract";

export const FACTS: WorkFacts = {
  request: { method: "POST", route: "/webhook" },
  inbox: { channel: "mail", messageId: "in-7" },
  turn: { turnId: "turn-1", sessionId: "session-1", agent: "main", model: "small", channel: "mail" },
  "model-call": { agent: "main", provider: "openai-compatible", model: "small", step: 2 },
  "tool-call": { tool: "file_read", callId: "call-9" },
  command: { backend: "userns" },
  delivery: { channel: "mail", messageId: "out-8", attempt: 3 },
};

const usage = { inputTokens: 120, outputTokens: 30, costUsd: 0.25 };

export const RESULTS: WorkResults = {
  request: { status: 200 },
  inbox: { error: undefined },
  turn: { error: undefined, ...usage },
  "model-call": { error: undefined, ...usage },
  "tool-call": { error: undefined },
  command: { outcome: "exited", exitCode: 1 },
  delivery: { error: undefined },
};

export const KINDS = Object.keys(FACTS) as WorkKind[];
