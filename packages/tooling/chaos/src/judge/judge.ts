/** Whether what was promised held, from what the platforms saw and what the database has. */
import { checkDatabase } from "@svc/store";
import type { Fixture } from "../fixture/fixture.ts";
import type { Postings } from "../fixture/poster.ts";
import { judgeActs } from "./acts.ts";
import { judgeAnswers } from "./answers.ts";
import { judgeArrivals } from "./arrivals.ts";
import { databaseOf, readDatabase } from "./database.ts";
import type { Judgement } from "./judgement.ts";
import { judgeOrder } from "./order.ts";
import { judgeReplies } from "./replies.ts";

/** Ends the daemon, in order. */
export async function judge(fixture: Fixture, postings: Postings, { wasUnwritable = false } = {}): Promise<Judgement> {
  const { home, lives, modelProblems } = fixture;
  await lives.end();
  const stored = readDatabase(home);
  const clock = { monotonic: () => performance.now() };
  const { problems } = await checkDatabase(databaseOf(home), { quick: false, clock });
  const parts = [
    judgeArrivals(stored, postings),
    judgeAnswers(stored),
    judgeActs(stored, { home, wasUnwritable }),
    judgeReplies(stored, fixture),
    judgeOrder(stored, fixture, postings),
  ];
  return {
    problems: [
      ...lives.problems,
      ...parts.flatMap((part) => part.problems),
      ...modelProblems,
      ...stored.integrity.filter((line) => line !== "ok").map((line) => `integrity_check: ${line}`),
      ...problems.map((problem) => `database: ${problem}`),
    ],
    facts: { ...Object.assign({}, ...parts.map(({ facts }) => facts)), integrity_check: stored.integrity.join("; ") },
  };
}
