/** One of each event and of each kind of work, with planted texts where something of a person's stands. */
import type { ClientId, SvcEvent, WorkFacts, WorkKind, WorkResults } from "@svc/contract";

/** In every text, id and message that belongs to a person or to one conversation: a backend may keep none of it as a name. */
export const PLANTED = "planted-7f3a";

const planted = (what: string): string => `${PLANTED}-${what}`;

/** Names from bounded sets: those of routes, agents, models, tools, channels, procedures. */
export type Name = (kind: string) => string;

export type EventSamples = { readonly [Type in SvcEvent["type"]]: Extract<SvcEvent, { readonly type: Type }> };

export function eventSamples(name: Name): EventSamples {
  const turn = {
    turnId: planted("turn"),
    sessionId: planted("session"),
    conversationId: planted("conversation"),
    owner: planted("owner") as ClientId,
  };
  const conversation = { channel: name("channel"), id: planted("chat"), thread: planted("thread") };
  const run = { runId: planted("run"), sop: name("sop") };
  return {
    "turn-start": { type: "turn-start", ...turn, agent: name("agent"), clientId: planted("client") as ClientId },
    "turn-store": { type: "turn-store", ...turn },
    "text-delta": { type: "text-delta", ...turn, text: planted("text"), offset: 0 },
    "turn-waiting": {
      type: "turn-waiting",
      ...turn,
      code: "MODEL_REFUSED",
      reason: "rate-limited",
      message: planted("failure"),
      waitMs: 7000,
      attempt: 2,
      attempts: 4,
    },
    "tool-call": { type: "tool-call", ...turn, callId: planted("call"), tool: name("tool") },
    "tool-result": {
      type: "tool-result",
      ...turn,
      callId: planted("call"),
      tool: name("tool"),
      ok: false,
      outcome: "rejected",
    },
    "turn-end": {
      type: "turn-end",
      ...turn,
      agent: name("agent"),
      ok: true,
      model: name("model"),
      durationMs: 1200,
      inputTokens: 12,
      outputTokens: 5,
      costUsd: 0.25,
    },
    "sop-change": { type: "sop-change" },
    "session-updated": {
      type: "session-updated",
      id: planted("session"),
      sessionId: planted("name"),
      owner: turn.owner,
    },
    "message-received": {
      type: "message-received",
      messageId: "in-1",
      conversation,
      sender: planted("sender"),
      turnId: turn.turnId,
    },
    "message-delivered": {
      type: "message-delivered",
      messageId: "out-1",
      conversation,
      turnId: turn.turnId,
      attempts: 2,
    },
    "message-failed": {
      type: "message-failed",
      messageId: "out-2",
      conversation,
      turnId: undefined,
      code: "DELIVERY_REFUSED",
    },
    channel_event: {
      type: "channel_event",
      event: planted("event"),
      title: planted("title"),
      message: planted("message"),
      channels: [name("channel")],
    },
    human_approval_request: {
      type: "human_approval_request",
      runId: run.runId,
      stepId: planted("step"),
      origin: "tool",
      title: planted("title"),
      message: planted("message"),
      channels: [name("channel")],
      approveKeywords: [planted("yes")],
      rejectKeywords: [planted("no")],
      expiresAtMs: 1_767_225_600_000,
    },
    human_approval_resolved: {
      type: "human_approval_resolved",
      runId: run.runId,
      stepId: planted("step"),
      approved: true,
      outcome: "approved",
      feedback: planted("feedback"),
      by: planted("person"),
    },
    "sop-run-start": { type: "sop-run-start", ...run, mode: "auto", startedBy: planted("person") },
    "sop-run-step": { type: "sop-run-step", ...run, step: 1, status: "running" },
    "sop-run-end": { type: "sop-run-end", ...run, status: "failed", error: "SOP_STEP_FAILED", durationMs: 900 },
    "channel-health": {
      type: "channel-health",
      channel: name("channel"),
      feature: name("feature"),
      state: "waiting",
      reason: planted("reason"),
    },
    "hardware-changed": {
      type: "hardware-changed",
      added: [planted("board")],
      removed: [],
      connected: 1,
    },
    "safety-request": {
      type: "safety-request",
      direction: "forward",
      speed: 0.3,
      distance: 1,
      seconds: undefined,
      by: planted("person"),
    },
    "safety-refuse": {
      type: "safety-refuse",
      reason: "obstacle",
      message: planted("message"),
      by: planted("person"),
    },
    "safety-stop": {
      type: "safety-stop",
      reason: "bump",
      message: planted("message"),
      layer: 3,
      travelled: 0.4,
      confirmed: true,
      latched: false,
      by: planted("person"),
    },
    "agent-changed": {
      type: "agent-changed",
      agentId: "ag-1",
      title: planted("message"),
      parent: undefined,
      program: "svc",
      status: "error",
      reason: planted("message"),
      costUsd: 0.01,
    },
    "safety-reset": { type: "safety-reset", by: planted("person") },
    "voice-state": {
      type: "voice-state",
      channel: name("channel"),
      state: "listening",
      transcriptions: 3,
      limit: 120,
      costUsd: 0.01,
    },
  };
}

export type WorkSamples = {
  readonly [Kind in WorkKind]: {
    readonly kind: Kind;
    readonly facts: WorkFacts[Kind];
    readonly good: WorkResults[Kind];
    readonly bad: WorkResults[Kind];
  };
};

const USAGE = { inputTokens: 12, outputTokens: 5, costUsd: 0.25 };
const NO_USAGE = { inputTokens: 0, outputTokens: 0, costUsd: undefined };

export function workSamples(name: Name): WorkSamples {
  return {
    request: {
      kind: "request",
      facts: { method: "POST", route: `/api/${name("route")}/{id}` },
      good: { status: 200 },
      bad: { status: undefined },
    },
    inbox: {
      kind: "inbox",
      facts: { channel: name("channel"), messageId: planted("in") },
      good: { error: undefined },
      bad: { error: "TURN_CRASHED" },
    },
    turn: {
      kind: "turn",
      facts: {
        turnId: planted("turn"),
        sessionId: planted("session"),
        agent: name("agent"),
        model: name("model"),
        channel: name("channel"),
      },
      good: { error: undefined, ...USAGE },
      bad: { error: "TURN_TIMEOUT", ...NO_USAGE },
    },
    "model-call": {
      kind: "model-call",
      facts: { agent: name("agent"), provider: name("provider"), model: name("model"), step: 0 },
      good: { error: undefined, ...USAGE },
      bad: { error: "MODEL_REFUSED", ...NO_USAGE },
    },
    "tool-call": {
      kind: "tool-call",
      facts: { tool: name("tool"), callId: planted("call") },
      good: { error: undefined },
      bad: { error: "TOOL_REFUSED" },
    },
    command: {
      kind: "command",
      facts: { backend: name("backend") },
      good: { outcome: "exited", exitCode: 0 },
      bad: { outcome: "timed-out", exitCode: undefined },
    },
    delivery: {
      kind: "delivery",
      facts: { channel: name("channel"), messageId: planted("out"), attempt: 1 },
      good: { error: undefined },
      bad: { error: "DELIVERY_FAILED" },
    },
  };
}
