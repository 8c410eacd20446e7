// A judge that finds nothing wrong with anything would let every loss and every repetition through.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { judgeActs } from "../src/judge/acts.ts";
import { judgeAnswers } from "../src/judge/answers.ts";
import { judgeArrivals } from "../src/judge/arrivals.ts";
import { judgeOrder } from "../src/judge/order.ts";
import { judgeReplies } from "../src/judge/replies.ts";
import { CALLS, DELIVERIES, ENTRIES, STORED, POSTINGS, type World, world, type Wrong } from "./world.ts";

const [first, second] = STORED;
const [answer, next] = DELIVERIES;
const [sent, sentNext] = ENTRIES;
const [posted, postedNext] = POSTINGS;

/** What is wrong, and what is said of it. */
type Case = readonly [title: string, wrong: Wrong, problem: string];

describe("arrivals", () => {
  const judged = ({ stored, postings }: World) => judgeArrivals(stored, postings).problems;

  test("kept once each is fine, and so is what was neither acknowledged nor kept", () => {
    expect(judged(world())).toEqual([]);
    const gone = { ...postedNext, acknowledgedAt: undefined, statuses: [0] };
    expect(judged(world({ messages: [first], postings: [posted, gone] }))).toEqual([]);
  });

  test.for<Case>([
    ["acknowledged and not kept", { messages: [first] }, "a1-2 was answered 200 and is not kept"],
    ["kept twice", { messages: [first, second, { ...second, n: 3 }] }, "a1-2 is kept 2 times"],
    [
      "half of a delivery",
      { messages: [first], postings: [together()] },
      "of the delivery with a1-1 only a part is kept",
    ],
    [
      "a genuine delivery refused",
      { postings: [posted, { ...postedNext, statuses: [401, 200] }] },
      "a1-2 was answered 401",
    ],
    ["out of nowhere", { messages: [first, second, { ...second, n: 3, text: "?" }] }, "in-3 is nobody's message"],
  ])("%s", ([, wrong, problem]) => {
    expect(judged(world(wrong))).toEqual([problem]);
  });
});

describe("answers", () => {
  const judged = ({ stored }: World) => judgeAnswers(stored).problems;
  const turn = { id: first.turnId, queue: first.queue };
  const turnNext = { id: second.turnId, queue: second.queue };

  test("one completed turn each", () => expect(judged(world())).toEqual([]));

  test.for<Case>([
    ["no turn", { turns: [turn] }, "in-2 has 0 turns"],
    ["two turns", { turns: [turn, turnNext, turnNext] }, "in-2 has 2 turns"],
    [
      "failed",
      { messages: [first, { ...second, state: "failed", error: "TURN_CRASHED" }] },
      "in-2 ended failed TURN_CRASHED",
    ],
    ["never over", { messages: [first, { ...second, state: null }] }, "in-2 ended not at all"],
    [
      "another answer",
      { deliveries: [answer, { ...next, text: "Acted for a1-3." }] },
      "the answer to in-2 is not the model's",
    ],
    ["half an answer", { deliveries: [answer] }, "the answer to in-2 is not the model's"],
    ["a turn too many", { turns: [turn, turnNext, { ...turn, id: "t" }] }, "the turn t belongs to no message"],
    ["steps of a turn that is over", { leftOver: { steps: 2 } }, "2 rows are left in steps"],
  ])("%s", ([, wrong, problem]) => {
    expect(judged(world(wrong))).toEqual([problem]);
  });
});

describe("replies", () => {
  const judged = ({ stored, ...fixture }: World) => judgeReplies(stored, fixture).problems;
  const counted = ({ stored, ...fixture }: World) => judgeReplies(stored, fixture).facts;
  const TWICE = "out-1 arrived 2 times without an excuse";

  test("once each is fine, however often the platform failed before", () => {
    expect(judged(world())).toEqual([]);
    expect(judged(world({ entries: [{ ...sent, fate: "failed" }, sent, sentNext] }))).toEqual([]);
  });

  test("twice is excused by a lost answer, and by a kill before the commit", () => {
    const lost = world({ entries: [{ ...sent, fate: "lost" }, sent, sentNext] });
    expect([judged(lost), counted(lost)["arrived twice: the platform's answer was lost"]]).toEqual([[], 1]);
    const later = { ...sent, life: 2 };
    const killed = world({ entries: [sent, later, { ...sentNext, life: 2 }] });
    expect(judged(killed)).toEqual([]);
    expect(counted(killed)).toMatchObject({
      "arrived twice: killed between accepted and commit": 1,
      "longest of that, ms": 1000,
    });
  });

  test.for<Case>([
    ["in one life", { entries: [sent, sent, sentNext] }, TWICE],
    ["after the next one was sent", { entries: [sent, sentNext, { ...sent, life: 2 }] }, TWICE],
    [
      "where it can be asked",
      { entries: [sent, { ...sent, life: 2 }, { ...sentNext, life: 2 }], arrivesOnce: true },
      "out-1 arrived 2 times, which can't be excused there",
    ],
    ["never", { entries: [sent] }, "out-2 is noted as sent and did not arrive"],
    [
      "given up",
      { deliveries: [answer, { ...next, state: "dead", error: "DELIVERY_FAILED" }] },
      "out-2 is dead DELIVERY_FAILED",
    ],
    [
      "to another person",
      { entries: [sent, { ...sentNext, to: "to a2" }] },
      "one: an answer went to another person (a1-2)",
    ],
  ])("%s", ([, wrong, problem]) => {
    expect(judged(world(wrong))).toEqual([problem]);
  });

  test("what nobody wrote, or no life of the daemon sent", () => {
    const odd = { ...sent, text: "Noted a1-9.", life: 0 };
    expect(judged(world({ entries: [sent, sentNext, odd] }))).toEqual([
      "one: something was sent that is not kept",
      "one: something was sent by no life",
    ]);
  });
});

describe("order", () => {
  const judged = ({ stored, postings, ...fixture }: World) => judgeOrder(stored, fixture, postings).problems;
  const turns = STORED.map(({ turnId: id, queue }) => ({ id, queue })).toReversed();

  test("as they arrived is fine; what was posted side by side may arrive either way", () => {
    expect(judged(world())).toEqual([]);
    const sideBySide = [
      { ...posted, begunAt: 3, acknowledgedAt: 5 },
      { ...postedNext, begunAt: 1, acknowledgedAt: 4 },
    ];
    expect(judged(world({ postings: sideBySide }))).toEqual([]);
  });

  test.for<Case>([
    ["turns", { turns }, `turns of ${first.queue} are out of order`],
    [
      "answers",
      {
        deliveries: [
          { ...next, n: 1 },
          { ...answer, n: 2 },
        ],
        entries: [sentNext, sent],
      },
      `answers of ${first.queue} were written out of order`,
    ],
    ["arrivals there", { entries: [sentNext, sent] }, "one: answers to to a1 arrived out of order"],
    [
      "arrivals here",
      { postings: [{ ...posted, begunAt: 5 }, postedNext] },
      `messages of ${first.queue} were kept out of order`,
    ],
  ])("%s", ([, wrong, problem]) => {
    expect(judged(world(wrong))).toEqual([problem]);
  });
});

describe("acts", () => {
  const [one, two] = CALLS;
  const unsure = [answer, { ...next, text: "Nobody knows about a1-2." }];

  function judged(lines: string, { stored }: World, wasUnwritable = false): readonly string[] {
    using home = temporaryHome();
    mkdirSync(join(home.path, "workspace", "acts"), { recursive: true });
    writeFileSync(join(home.path, "workspace", "acts", "a1.txt"), lines);
    return judgeActs(stored, { home: home.path, wasUnwritable }).problems;
  }

  test("each once is fine; one that was interrupted may have been done or not", () => {
    expect(judged("a1-2/1\na1-2/2\n", world())).toEqual([]);
    const interrupted = world({ calls: [{ ...one, state: "interrupted" }, two], deliveries: unsure });
    expect(judged("a1-2/1\na1-2/2\n", interrupted)).toEqual([]);
    expect(judged("a1-2/2\n", interrupted)).toEqual([]);
    const unnoted = world({ calls: [{ ...one, state: "started" }, two], deliveries: unsure });
    expect(judged("a1-2/1\na1-2/2\n", unnoted, true)).toEqual([]);
    expect(judged("a1-2/1\na1-2/2\n", unnoted)).toEqual(["a1-2/1 is noted as started"]);
  });

  test.for<readonly [title: string, lines: string, wrong: Wrong, problem: string]>([
    ["done twice", "a1-2/1\na1-2/1\na1-2/2\n", {}, "a1-2/1 was done 2 times"],
    ["begun twice", "a1-2/1\na1-2/2\n", { calls: [one, one, two] }, "a1-2/1 was begun 2 times"],
    ["not done", "a1-2/1\n", {}, "a1-2/2 is noted as finished and was not done"],
    ["told wrongly", "a1-2/1\na1-2/2\n", { deliveries: unsure }, "the model was told wrongly about a1-2"],
    ["not asked for", "a1-2/1\na1-2/2\na1-7/1\n", {}, "a1-7/1 was done, and nobody asked for it"],
  ])("%s", ([, lines, wrong, problem]) => {
    expect(judged(lines, world(wrong))).toEqual([problem]);
  });
});

/** Both messages in one delivery. */
function together() {
  const messages = POSTINGS.flatMap(({ delivery }) => delivery.messages);
  return { ...posted, acknowledgedAt: undefined, statuses: [0], delivery: { ...posted.delivery, messages } };
}
