/** Whether what was promised held, from what people see and what the database has. */
import { checkDatabase } from "@svc/store";
import { judgeActs } from "../judge/acts.ts";
import { judgeAnswers } from "../judge/answers.ts";
import { databaseOf, readDatabase } from "../judge/database.ts";
import type { Judgement } from "../judge/judgement.ts";
import { judgeOrder } from "../judge/order.ts";
import { heard } from "./heard.ts";
import type { EverydayFixture } from "./fixture.ts";
import { chatOf, type Written } from "./people.ts";
import { judgeShown, type Shown } from "./shown.ts";

/** Ends the daemon, in order. */
export async function judgeEveryday(
  fixture: EverydayFixture,
  writings: readonly Written[],
  noted: ReadonlySet<string>,
): Promise<Judgement> {
  const { home, lives, ledger, platforms, modelProblems } = fixture;
  await lives.end();
  const stored = readDatabase(home);
  const clock = { monotonic: () => performance.now() };
  const { problems } = await checkDatabase(databaseOf(home), { quick: false, clock });
  const { asked } = ledger;
  const chat = (one: Written): string => chatOf(platforms, one);
  const options = { writings, shown: shownIn(platforms), asked, chatOf: chat, noted };
  const parts = [
    judgeAnswers(stored),
    judgeActs(stored, { home, wasUnwritable: false }),
    judgeOrder(stored, { providers: [], ledger: { entries: [] } }, new Map()),
    judgeShown(stored, options),
  ];
  return {
    problems: [
      ...lives.problems,
      ...heard(stored, writings),
      ...parts.flatMap((part) => part.problems),
      ...modelProblems,
      ...stored.integrity.filter((line) => line !== "ok").map((line) => `integrity_check: ${line}`),
      ...problems.map((problem) => `database: ${problem}`),
    ],
    facts: {
      "messages written": writings.length,
      ...Object.assign({}, ...parts.map(({ facts }) => facts)),
      "noted beginnings, at kills": noted.size,
      "asked to post": asked.filter(({ kind }) => kind === "post").length,
      "asked to edit": asked.filter(({ kind }) => kind === "edit").length,
      "of both failed": asked.filter(({ fate }) => fate === "failed").length,
      "of both done, and the answer lost": asked.filter(({ fate }) => fate === "lost").length,
      "other requests that failed": ledger.failedReads,
      integrity_check: stored.integrity.join("; "),
    },
  };
}

export const shownIn = (platforms: EverydayFixture["platforms"]): Shown[] =>
  platforms.flatMap((platform) => platform.seen().map(({ chat, text }) => ({ channel: platform.id, chat, text })));
