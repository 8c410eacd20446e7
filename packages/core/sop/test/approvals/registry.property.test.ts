// Whatever is asked, answered, called off and killed in whatever order: each question is posted once, ends at most once, by the
// first who ended it, and nobody is told anything else.
import { SvcError } from "@svc/contract";
import type { ApprovalStatus } from "@svc/store";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  approvals,
  clock,
  key,
  OPERATOR,
  posted,
  registryForEachTest,
  request,
  restart,
  ROOM,
  say,
  store,
} from "./fixture.ts";

registryForEachTest();

type Step =
  | { readonly do: "ask" | "ask, killed before" | "ask, killed after" | "cancel"; readonly run: number }
  | {
      readonly do: "answer" | "answer, killed before" | "answer, killed after";
      readonly run: number;
      readonly yes: boolean;
    }
  | { readonly do: "say"; readonly run: number; readonly yes: boolean }
  | { readonly do: "wait" | "restart" | "set the clock"; readonly ms: number };

const run = fc.nat(2);
const yes = fc.boolean();
const ms = fc.integer({ min: -50_000, max: 50_000 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom("ask", "ask, killed before", "ask, killed after", "cancel"), run }),
  fc.record({ do: fc.constantFrom("answer", "answer, killed before", "answer, killed after"), run, yes }),
  fc.record({ do: fc.constant("say" as const), run, yes }),
  fc.record({ do: fc.constantFrom("wait", "restart", "set the clock"), ms }),
);

const EXPIRE_MS = 60_000;
const asked = (name: string) => request(name, { expireMs: EXPIRE_MS, conversations: [ROOM] });

/** The transaction is undone. */
const killedBefore = (change: () => unknown): Promise<void> =>
  store
    .write(() => {
      change();
      throw new Error("killed");
    })
    .then(restart, restart);

/** It is on disk, and whoever did it is gone before anybody was told. */
const killedAfter = (change: () => unknown): Promise<void> => store.write(change).then(restart, restart);

async function perform(step: Step, nameOf: (run: number) => string): Promise<void> {
  if (!("run" in step)) {
    if (step.do === "wait") return clock.advance(Math.abs(step.ms));
    if (step.do === "set the clock") return clock.setWallClock(clock.now() + step.ms);
    return restart();
  }
  const name = nameOf(step.run);
  const answer = { ...OPERATOR, approved: "yes" in step && step.yes };
  const steps: Record<typeof step.do, () => Promise<unknown>> = {
    ask: () => approvals.request(asked(name)),
    "ask, killed before": () => killedBefore(() => approvals.requestIn(asked(name))),
    "ask, killed after": () => killedAfter(() => approvals.requestIn(asked(name))),
    cancel: async () => (await store.write(() => approvals.cancelIn(key(name), "called off")))?.committed(),
    answer: () => approvals.resolve(key(name), answer),
    "answer, killed before": () => killedBefore(() => approvals.resolveIn(key(name), answer)),
    "answer, killed after": () => killedAfter(() => approvals.resolveIn(key(name), answer)),
    say: () => say(`${answer.approved ? "yes" : "no"} #${approvals.get(key(name))?.n ?? 0}`),
  };
  await steps[step.do]().catch((error: unknown) => {
    if (!(error instanceof SvcError) || !error.code.startsWith("APPROVAL_")) throw error;
  });
}

test("a question is posted once, ends once, and stays as it ended", async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 25 }), async (steps) => {
      round += 1;
      const nameOf = (number: number): string => `r-${round}-${number}`;
      const ended = new Map<string, ApprovalStatus>();
      for (const step of steps) {
        await perform(step, nameOf);
        for (const name of [0, 1, 2].map(nameOf)) {
          const status = approvals.get(key(name))?.status;
          expect(status).toBe(ended.get(name) ?? status);
          if (status !== undefined && status !== "waiting") ended.set(name, status);
        }
      }
      const said = posted();
      for (const name of [0, 1, 2].map(nameOf)) {
        const approval = approvals.get(key(name));
        const questions = said.filter((text) => text.includes(`Approval needed (#${approval?.n})`));
        expect(questions).toHaveLength(approval ? 1 : 0);
        const outcomes = said.filter((text) => text.startsWith(`chat/room: #${approval?.n} (`));
        // Who answers in the only chat that was asked is told by the reply.
        const isTold = approval?.answer !== undefined && approval.answer.via !== "chat";
        expect(outcomes).toHaveLength(isTold ? 1 : 0);
      }
      for (const { runId, stepId } of store.approvals.list({ status: "waiting" }, 100)) {
        (await store.write(() => approvals.cancelIn({ runId, stepId }, "the next one")))?.committed();
      }
    }),
    { numRuns: cases(60) },
  );
});
