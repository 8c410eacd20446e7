/** Everything that can be counted, once well and once badly: each series has a value afterwards. */
import type { SvcEvent } from "@svc/contract";
import type { OpenedMetrics } from "./open-metrics.ts";

const conversation = { channel: "chat", id: "c" };

const EVENTS: readonly SvcEvent[] = [
  { type: "message-received", messageId: "in-1", conversation, sender: "ann", turnId: "t" },
  { type: "message-delivered", messageId: "out-1", conversation, turnId: "t", attempts: 1 },
  { type: "message-failed", messageId: "out-2", conversation, turnId: "t", code: "DELIVERY_REFUSED" },
  { type: "message-failed", messageId: "in-2", conversation, turnId: "t", code: "TURN_CRASHED" },
  { type: "sop-run-start", runId: "r", sop: "deploy", mode: "auto", startedBy: "ann" },
  { type: "sop-run-end", runId: "r", sop: "deploy", status: "completed", error: undefined, durationMs: 1500 },
  { type: "safety-request", direction: "forward", speed: 0.3, distance: 1, seconds: undefined, by: "an agent" },
  { type: "safety-refuse", reason: "obstacle", message: "too near", by: "an agent" },
  {
    type: "safety-stop",
    reason: "bump",
    message: "bumped",
    layer: 3,
    travelled: 0.4,
    confirmed: true,
    latched: false,
    by: "the safety monitor",
  },
  {
    type: "agent-changed",
    agentId: "ag-1",
    title: "look around",
    parent: undefined,
    program: "svc",
    status: "initializing",
    reason: undefined,
    costUsd: 0,
  },
  {
    type: "agent-changed",
    agentId: "ag-1",
    title: "look around",
    parent: undefined,
    program: "svc",
    status: "error",
    reason: undefined,
    costUsd: 0,
  },
  { type: "safety-reset", by: "a person" },
];

export function makeTraffic(metrics: OpenedMetrics): void {
  for (const event of EVENTS) metrics.observer.record(event);
  const request = { method: "POST", route: "/webhook" };
  metrics.work("request", request, { status: 200 }, 0.8);
  metrics.work("request", request, { status: 503 }, 0.01);
  metrics.work("inbox", { channel: "chat", messageId: "in-1" }, { error: undefined }, 0.02);
  const turn = { turnId: "t", sessionId: "s", agent: "main", model: "m-1", channel: "chat" };
  const priced = { inputTokens: 120, outputTokens: 30, costUsd: 0.02 };
  metrics.work("turn", turn, { error: undefined, ...priced }, 2);
  metrics.work("turn", turn, { error: "TURN_TIMEOUT", ...priced, costUsd: undefined }, 300);
  const call = { agent: "main", provider: "local", model: "m-1", step: 0 };
  metrics.work("model-call", call, { error: undefined, ...priced }, 1.5);
  metrics.work(
    "model-call",
    call,
    { error: "MODEL_REFUSED", inputTokens: 0, outputTokens: 0, costUsd: undefined },
    0.3,
  );
  metrics.work("tool-call", { tool: "shell", callId: "c" }, { error: undefined }, 0.2);
  metrics.work("tool-call", { tool: "shell", callId: "c" }, { error: "TOOL_REFUSED" });
  metrics.work("command", { backend: "jail" }, { outcome: "exited", exitCode: 0 }, 0.2);
  metrics.work("delivery", { channel: "chat", messageId: "out-1", attempt: 1 }, { error: undefined }, 0.1);
  metrics.work("delivery", { channel: "chat", messageId: "out-2", attempt: 1 }, { error: "DELIVERY_REFUSED" }, 0.1);
}
