// What an operator reads in the numbers: each kind of work and each event is counted once, in the right place, in base units.
import type { SvcEvent } from "@svc/contract";
import { expect, test } from "vitest";
import { openMetrics } from "./open-metrics.ts";

const conversation = { channel: "chat", id: "c1" };
const TURN = { turnId: "t", sessionId: "s", agent: "main", model: "m-1", channel: "chat" };
const CALL = { agent: "main", provider: "local", model: "m-1", step: 0 };

test("requests, by route and status; latency in seconds, by class of status", async () => {
  await using metrics = await openMetrics();
  metrics.work("request", { method: "POST", route: "/webhook" }, { status: 200 }, 0.004);
  metrics.work("request", { method: "POST", route: "/webhook" }, { status: 202 }, 0.2);
  metrics.work("request", { method: "POST", route: "/webhook" }, { status: 401 }, 0.0005);
  metrics.work("request", { method: "BREW", route: "other" }, { status: 405 });
  metrics.work("request", { method: "GET", route: "/api/events" }, { status: undefined }, 3600);
  expect(await metrics.series("svc_http_requests_total")).toEqual({
    "method=POST route=/webhook status=200": 1,
    "method=POST route=/webhook status=202": 1,
    "method=POST route=/webhook status=401": 1,
    "method=other route=other status=405": 1,
    "method=GET route=/api/events status=aborted": 1,
  });
  const ok = "method=POST route=/webhook status_class=2xx";
  expect(await metrics.series("svc_http_request_duration_seconds_count")).toMatchObject({ [ok]: 2 });
  expect((await metrics.series("svc_http_request_duration_seconds_sum"))[ok]).toBeCloseTo(0.204);
  const buckets = await metrics.series("svc_http_request_duration_seconds_bucket");
  expect(buckets).toMatchObject({
    [`le=0.0025 ${ok}`]: 0,
    [`le=0.005 ${ok}`]: 1,
    [`le=0.1 ${ok}`]: 1,
    [`le=0.25 ${ok}`]: 2,
    [`le=+Inf ${ok}`]: 2,
    "le=300 method=GET route=/api/events status_class=aborted": 0,
    "le=+Inf method=GET route=/api/events status_class=aborted": 1,
  });
});

test("turns by outcome; one that somebody stopped has not failed", async () => {
  await using metrics = await openMetrics();
  const usage = { inputTokens: 10, outputTokens: 4, costUsd: 0.5 };
  metrics.work("turn", TURN, { error: undefined, ...usage }, 1.5);
  metrics.work("turn", TURN, { error: "MODEL_REFUSED", ...usage, inputTokens: 0, outputTokens: 0 }, 0.2);
  metrics.work("turn", TURN, { error: "TURN_CANCELLED", ...usage }, 7);
  expect(await metrics.series("svc_turns_total")).toEqual({
    "agent=main outcome=ok": 1,
    "agent=main outcome=failed": 1,
    "agent=main outcome=cancelled": 1,
  });
  expect(await metrics.series("svc_turn_duration_seconds_sum")).toMatchObject({ "agent=main outcome=ok": 1.5 });
  expect(await metrics.series("svc_errors_total")).toEqual({ "work=turn code=MODEL_REFUSED": 1 });
});

test("tokens and cost are those of the model's calls, and are counted once", async () => {
  await using metrics = await openMetrics();
  metrics.work("model-call", CALL, { error: undefined, inputTokens: 100, outputTokens: 20, costUsd: 0.25 }, 2);
  metrics.work("model-call", CALL, { error: undefined, inputTokens: 150, outputTokens: 5, costUsd: 0.5 }, 1);
  metrics.work("turn", TURN, { error: undefined, inputTokens: 250, outputTokens: 25, costUsd: 0.75 }, 3);
  expect(await metrics.series("svc_model_tokens_total")).toEqual({
    "model=m-1 direction=input": 250,
    "model=m-1 direction=output": 25,
  });
  expect(await metrics.series("svc_model_cost_usd_total")).toEqual({ "model=m-1": 0.75 });
  expect(await metrics.series("svc_model_calls_total")).toEqual({ "provider=local model=m-1 outcome=ok": 2 });
  expect(await metrics.series("svc_model_call_duration_seconds_sum")).toEqual({
    "provider=local model=m-1 outcome=ok": 3,
  });
  expect(await metrics.series("svc_turns_unpriced_total")).toEqual({});
});

test("an unknown price adds nothing to the cost, and the turn is counted as one without a price", async () => {
  await using metrics = await openMetrics();
  const unknown = { inputTokens: 100, outputTokens: 20, costUsd: undefined };
  metrics.work("model-call", CALL, { error: undefined, ...unknown });
  metrics.work("turn", TURN, { error: undefined, ...unknown });
  // It cost nothing, whatever the price.
  metrics.work("turn", TURN, { error: "MODEL_UNREACHABLE", inputTokens: 0, outputTokens: 0, costUsd: undefined });
  expect(await metrics.series("svc_model_cost_usd_total")).toEqual({});
  expect(await metrics.series("svc_turns_unpriced_total")).toEqual({ "model=m-1": 1 });
});

test("a model that costs nothing has a cost of 0", async () => {
  await using metrics = await openMetrics();
  metrics.work("model-call", CALL, { error: undefined, inputTokens: 100, outputTokens: 20, costUsd: 0 });
  expect(await metrics.series("svc_model_cost_usd_total")).toEqual({ "model=m-1": 0 });
});

test("tools and commands, by how they ended", async () => {
  await using metrics = await openMetrics();
  metrics.work("tool-call", { tool: "shell", callId: "c" }, { error: undefined }, 0.3);
  metrics.work("tool-call", { tool: "shell", callId: "c" }, { error: "TOOL_REFUSED" });
  metrics.work("command", { backend: "jail" }, { outcome: "exited", exitCode: 0 }, 0.2);
  metrics.work("command", { backend: "jail" }, { outcome: "exited", exitCode: 2 });
  metrics.work("command", { backend: "jail" }, { outcome: "signalled", exitCode: undefined });
  metrics.work("command", { backend: "jail" }, { outcome: "timed-out", exitCode: undefined }, 120);
  metrics.work("command", { backend: "none" }, { outcome: "failed", exitCode: undefined });
  expect(await metrics.series("svc_tool_calls_total")).toEqual({
    "tool=shell outcome=ok": 1,
    "tool=shell outcome=failed": 1,
  });
  expect(await metrics.series("svc_tool_call_duration_seconds_sum")).toMatchObject({ "tool=shell outcome=ok": 0.3 });
  expect(await metrics.series("svc_commands_total")).toEqual({
    "backend=jail outcome=ok": 1,
    "backend=jail outcome=exit-code": 1,
    "backend=jail outcome=signalled": 1,
    "backend=jail outcome=timed-out": 1,
    "backend=none outcome=failed": 1,
  });
  expect(await metrics.series("svc_command_duration_seconds_sum")).toMatchObject({
    "backend=jail outcome=timed-out": 120,
  });
  expect(await metrics.series("svc_errors_total")).toEqual({ "work=tool-call code=TOOL_REFUSED": 1 });
});

test("messages: received, waiting, tried, delivered or given up", async () => {
  await using metrics = await openMetrics();
  const tell = (...events: SvcEvent[]): void => {
    for (const event of events) metrics.observer.record(event);
  };
  tell({ type: "message-received", messageId: "in-1", conversation, sender: "ann", turnId: "t" });
  metrics.work("inbox", { channel: "chat", messageId: "in-1" }, { error: undefined }, 0.05);
  metrics.work("delivery", { channel: "chat", messageId: "out-1", attempt: 1 }, { error: "REMOTE_TIMEOUT" }, 10);
  metrics.work("delivery", { channel: "chat", messageId: "out-1", attempt: 2 }, { error: undefined }, 0.1);
  tell({ type: "message-delivered", messageId: "out-1", conversation, turnId: "t", attempts: 2 });
  tell({ type: "message-failed", messageId: "out-2", conversation, turnId: "t", code: "DELIVERY_REFUSED" });
  for (const messageId of ["in-2", "in-3"]) {
    tell({ type: "message-failed", messageId, conversation, turnId: "t", code: "TURN_CRASHED" });
  }
  expect(await metrics.series("svc_messages_received_total")).toEqual({ "channel=chat": 1 });
  expect(await metrics.series("svc_inbox_wait_seconds_sum")).toEqual({ "channel=chat": 0.05 });
  expect(await metrics.series("svc_messages_unanswered_total")).toEqual({ "channel=chat": 2 });
  expect(await metrics.series("svc_deliveries_total")).toEqual({
    "channel=chat outcome=delivered": 1,
    "channel=chat outcome=given-up": 1,
  });
  expect(await metrics.series("svc_delivery_attempts_total")).toEqual({
    "channel=chat outcome=ok": 1,
    "channel=chat outcome=failed": 1,
  });
  expect(await metrics.series("svc_delivery_attempt_duration_seconds_sum")).toEqual({
    "channel=chat outcome=ok": 0.1,
    "channel=chat outcome=failed": 10,
  });
  expect(await metrics.series("svc_errors_total")).toEqual({ "work=delivery code=REMOTE_TIMEOUT": 1 });
});

test("approvals begin at 0, so that the first one is an increase", async () => {
  await using metrics = await openMetrics();
  expect(await metrics.series("svc_approvals_requested_total")).toEqual({
    "origin=external": 0,
    "origin=sop": 0,
    "origin=tool": 0,
  });
  const run = { runId: "r", stepId: "1" };
  const asked = {
    ...run,
    title: "",
    message: "",
    channels: [],
    approveKeywords: [],
    rejectKeywords: [],
    expiresAtMs: 0,
  };
  metrics.observer.record({ type: "human_approval_request", origin: "tool", ...asked });
  const answer = { approved: false, outcome: "expired", feedback: undefined, by: "nobody" } as const;
  metrics.observer.record({ type: "human_approval_resolved", ...run, ...answer });
  expect(await metrics.series("svc_approvals_requested_total")).toMatchObject({ "origin=tool": 1 });
  expect(await metrics.series("svc_approvals_resolved_total")).toEqual({
    "outcome=approved": 0,
    "outcome=rejected": 0,
    "outcome=expired": 1,
    "outcome=cancelled": 0,
  });
});

test("runs of procedures, by name and end", async () => {
  await using metrics = await openMetrics();
  const run = { runId: "r", sop: "deploy" };
  metrics.observer.record({ type: "sop-run-start", ...run, mode: "auto", startedBy: "ann" });
  metrics.observer.record({
    type: "sop-run-end",
    ...run,
    status: "failed",
    error: "SOP_STEP_FAILED",
    durationMs: 2500,
  });
  expect(await metrics.series("svc_sop_runs_started_total")).toEqual({ "sop=deploy": 1 });
  expect(await metrics.series("svc_sop_runs_ended_total")).toEqual({ "sop=deploy status=failed": 1 });
  expect(await metrics.series("svc_sop_run_duration_seconds_sum")).toEqual({ "sop=deploy status=failed": 2.5 });
});

test("a clock that was set back makes nothing negative", async () => {
  await using metrics = await openMetrics();
  metrics.work("tool-call", { tool: "shell", callId: "c" }, { error: undefined }, -3600);
  expect(await metrics.series("svc_tool_call_duration_seconds_sum")).toEqual({ "tool=shell outcome=ok": 0 });
});
