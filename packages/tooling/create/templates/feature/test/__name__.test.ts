// Turns are counted once each, by how they ended and how long they took; other events are not turns.
import type { SvcEvent } from "@svc/contract";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { expect, test } from "vitest";
import { create } from "../src/__name__.ts";
import definition from "../src/index.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..`, config: { slow_turn_secs: 10 } });

const TURN = { turnId: "t", sessionId: "s", conversationId: "c", owner: "c" as never };

const ended = (ok: boolean, durationMs: number): SvcEvent => ({
  type: "turn-end",
  ...TURN,
  agent: "default",
  ok,
  model: "builtin",
  durationMs,
  inputTokens: 1,
  outputTokens: 1,
  costUsd: undefined,
});

test("counts how turns ended and tells it at its route", async () => {
  const made = create(fakeFeatureContext({ slow_turn_secs: 10 }));
  for (const event of [ended(true, 9_999), ended(true, 10_000), ended(false, 1)]) made.observer?.record(event);
  made.observer?.record({ type: "text-delta", ...TURN, text: "x", offset: 0 });

  const [route] = made.routes ?? [];
  const request = {
    caller: { kind: "operator" as const },
    params: {},
    origin: undefined,
    query: new URLSearchParams(),
    body: null,
    signal: new AbortController().signal,
  };
  expect(route).toMatchObject({ method: "GET", path: "/api/__name__" });
  expect(await route?.handle(request)).toEqual({ status: 200, body: { finished: 2, failed: 1, slow: 1 } });
});
