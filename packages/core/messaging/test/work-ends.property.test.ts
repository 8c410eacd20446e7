// Whatever happens in whatever order: work that was begun is ended, once, and no turn ends before what is part of it.
import { type ClientId, SvcError } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import { recordedInstruments } from "@svc/testkit/observe/recorded-tracer";
import type { RecordedWork } from "@svc/testkit/observe/recording-observer";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { platform } from "./delivery-fixture.ts";
import { act, call, hang, read, text } from "@svc/agent/agent-fixture";
import {
  down,
  lastAsked,
  messagingFixture,
  type MessagingFixture,
  quiet,
  saidIn,
  status,
  type Think,
} from "./messaging-fixture.ts";

type Mood = "answer" | "call" | "act" | "unknown" | "blank" | "down" | "refuse" | "hang";
type Sending = "take" | "fail" | "refuse" | "hang";

type Step =
  | { readonly do: "say"; readonly room: string; readonly words: string }
  | { readonly do: "ask"; readonly session: string; readonly forMs: number }
  | { readonly do: "drop"; readonly n: number }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "reload" }
  | { readonly do: "restart"; readonly graceMs: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("say" as const),
      room: fc.constantFrom("a", "b"),
      words: fc.constantFrom("one", "two", "/stop", "/new", "/model"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("ask" as const),
      session: fc.constantFrom("s", "t"),
      forMs: fc.constantFrom(0, 400, 100_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("drop" as const), n: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(500, 3_000, 40_000) }) },
  { weight: 1, arbitrary: fc.constant({ do: "reload" as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("restart" as const), graceMs: fc.constantFrom(0, 1_000) }) },
);

const moods = fc.array(fc.constantFrom<Mood>("answer", "call", "act", "unknown", "blank", "down", "refuse", "hang"), {
  maxLength: 12,
});
const sendings = fc.array(fc.constantFrom<Sending>("take", "fail", "refuse", "hang"), { maxLength: 8 });

/** What a run of steps came to, as sentences; none: all was well. */
async function wrongAfter(steps: readonly Step[], ahead: readonly Mood[], sent: readonly Sending[]): Promise<string[]> {
  const [clock, home] = [fakeClock(), temporaryHome()];
  const { tracer, recorded, thrown } = recordedInstruments(clock, { content: true });
  const [thinks, sends] = [[...ahead], [...sent]];
  const tools = [{ ...read, run: async () => "seen" }, act];
  const start = (): MessagingFixture => {
    const chat = platform();
    chat.mood = () => moodOf(sends.shift() ?? "take");
    const think = thinking(() => thinks.shift() ?? "answer");
    return messagingFixture({ chat, think, tools, clock, tracer, folder: home.path, verdict: "refuse" });
  };
  let made = start();
  const callers = new Set<AbortController>();
  const stop = async (graceMs: number): Promise<void> => {
    // As the gateway does when it closes.
    for (const gone of callers) gone.abort(new SvcError("DRAINING"));
    const stopped = made.messaging.stop(graceMs);
    await made.pass(graceMs + 500);
    await stopped;
    await quiet();
    made[Symbol.dispose]();
  };
  for (const next of steps) {
    if (next.do === "say") await made.receive(saidIn(next.room, next.words));
    else if (next.do === "ask") callers.add(await asked(made, next.session, next.forMs));
    else if (next.do === "drop") await made.messaging.messageAdmin.drop(`in-${next.n}`).catch(() => {});
    else if (next.do === "pass") await made.pass(next.ms);
    else if (next.do === "reload") made.messaging.reconfigure(made.settings());
    else {
      await stop(next.graceMs);
      made = start();
    }
  }
  await stop(0);
  home.remove();
  return [
    ...recorded.open.map(({ kind }) => `${kind} has no end`),
    ...thrown.map(String),
    ...recorded.works.flatMap(early),
  ];
}

/** An HTTP turn whose caller goes away. */
async function asked({ agent, clock }: MessagingFixture, session: string, forMs: number): Promise<AbortController> {
  const gone = new AbortController();
  clock.after(forMs, () => gone.abort(new SvcError("TURN_CANCELLED")));
  const clientId = "ada" as ClientId;
  void agent.run({ clientId, owner: clientId, session, text: "hi", signal: gone.signal }).catch(() => {});
  await quiet();
  return gone;
}

/** Deliveries go on after the turn that they come of, and nothing else does. */
const early = (work: RecordedWork): string[] =>
  work.children
    .filter(({ kind }) => work.kind === "turn" && kind !== "delivery")
    .filter(({ endedAtMs }) => endedAtMs! > work.endedAtMs!)
    .map(({ kind }) => `a ${kind} went on after its turn`);

const thinking =
  (mood: () => Mood): Think =>
  (options) => {
    const now = mood();
    if (now === "hang") return hang(options);
    if (now === "down") throw down();
    if (now === "refuse") throw status(401);
    if (now === "blank") return [text(" ")];
    if (now === "answer") return [text(`echo ${lastAsked(options)}`)];
    return [call({ call: "read", act: "act", unknown: "made_up" }[now], {}, `c-${options.prompt.length}`)];
  };

function moodOf(sending: Sending): "take" | "hang" | SvcError {
  if (sending === "fail") return new SvcError("DELIVERY_FAILED");
  return sending === "refuse" ? new SvcError("DELIVERY_REFUSED") : sending;
}

test("every piece of work that was begun is ended once", async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), moods, sendings, async (steps, ahead, sent) => {
    expect(await wrongAfter(steps, ahead, sent)).toEqual([]);
  });
  await fc.assert(property, { numRuns: cases(40) });
});
