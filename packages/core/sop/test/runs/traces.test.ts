// A run goes on after whoever began it, and is part of that all the same: over its gates, and over a restart.
import { SvcError } from "@svc/contract";
import { type Scope, currentScope, inScope } from "@svc/runtime";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { calling, fixture, type FixtureOptions, quiet, sop, STARTER, step, webhook } from "./fixture.ts";

const traceparent = (digit: string): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
const BEGAN: Scope = { request: "r-1", turn: "t-1", traceparent: traceparent("1") };
const ANSWERED: Scope = { request: "r-2", turn: "t-2", traceparent: traceparent("2") };
const OF_THE_RUN: Scope = { traceparent: traceparent("1") };

/** A fixture whose agent notes for whom it works. */
function noting(options: FixtureOptions) {
  const seen: Scope[] = [];
  const made = fixture({
    ...options,
    turn: () => (seen.push(currentScope()), "done"),
    call: () => (seen.push(currentScope()), "done"),
  });
  return Object.assign(made, { seen });
}

const GATED = sop("tidy", { steps: [step(1), step(2, { requiresConfirmation: true })] });

test("its steps are part of what began it, and of nobody's turn; who says yes to one is not who began it", async () => {
  using made = noting({ sops: [GATED], places: [{ channel: "chat", id: "ops" }] });
  await inScope(BEGAN, () => made.start("tidy"));
  await quiet();
  expect(made.seen).toEqual([OF_THE_RUN]);
  expect(made.store.outbox.list({}, 9)).toMatchObject([{ traceparent: traceparent("1") }]);
  await inScope(ANSWERED, () => made.answerAll());
  await quiet();
  expect(made.seen).toEqual([OF_THE_RUN, OF_THE_RUN]);
});

test("what goes wrong between its steps is told of nobody's request", async () => {
  using made = noting({ sops: [sop("tidy")] });
  const { seen } = made;
  Object.assign(made.log, { warn: () => seen.push(currentScope()) });
  made.store.sopRuns.read = () => {
    throw new SvcError("BUSY");
  };
  const { runs } = await inScope(BEGAN, () => made.sops.dispatch(webhook("tidy"), STARTER));
  await quiet();
  expect([runs.length, seen]).toEqual([1, [{}]]);
});

test("the next process goes on as part of the same", async () => {
  const home = temporaryHome();
  {
    using before = noting({ sops: [GATED], folder: home.path });
    await inScope(BEGAN, () => before.start("tidy"));
    await quiet();
  }
  using made = noting({ sops: [GATED], folder: home.path });
  await made.answerAll();
  await quiet();
  expect(made.seen).toEqual([OF_THE_RUN]);
  home.remove();
});

test("calls without a model are too; one that the clock began is part of nothing", async () => {
  const called = sop("called", { mode: "deterministic", steps: [calling(1)] });
  const timely = sop("timely", {
    triggers: [{ type: "cron", expression: "0 3 * * *", timezone: undefined, condition: undefined }] as never,
  });
  using made = noting({ sops: [called, timely] });
  await inScope(BEGAN, () => made.start("called"));
  await quiet();
  await made.due("timely", "0 3 * * *");
  await quiet();
  expect(made.seen).toEqual([OF_THE_RUN, { traceparent: undefined }, { traceparent: undefined }]);
});
