/** What was acknowledged is kept, once; what was not may be, and then once too, with all that came in the same delivery. */
import type { Posting, Postings } from "../fixture/poster.ts";
import { labelIn } from "../plan/messages.ts";
import type { StoredState } from "./database.ts";
import type { Judgement } from "./judgement.ts";

/** No answer; done; busy or the disk is full; what a proxy would say. Anything else is a mistake about a genuine delivery. */
const EXPECTED: ReadonlySet<number> = new Set([0, 200, 429, 503]);

export function judgeArrivals({ messages }: Pick<StoredState, "messages">, postings: Postings): Judgement {
  const problems: string[] = [];
  const times = new Map<string, number>();
  for (const { kind, text, n } of messages) {
    const label = labelIn(text);
    if (kind === "message" && label === undefined) problems.push(`in-${n} is nobody's message`);
    if (label !== undefined) times.set(label, (times.get(label) ?? 0) + 1);
  }
  const all = [...postings.values()];
  for (const posting of all) problems.push(...problemsOf(posting, times));
  const acknowledged = all.filter(({ acknowledgedAt }) => acknowledgedAt !== undefined);
  const statuses = Object.entries(
    Object.groupBy(
      all.flatMap((one) => one.statuses),
      String,
    ),
  );
  return {
    problems,
    facts: {
      deliveries: all.length,
      attempts: statuses.reduce((sum, [, { length } = []]) => sum + (length ?? 0), 0),
      "answered, by status": statuses.map(([status, { length } = []]) => `${status}: ${length}`).join(", "),
      acknowledged: acknowledged.length,
      "never acknowledged": byChannel(all.filter(({ acknowledgedAt }) => acknowledgedAt === undefined)),
      "kept without being acknowledged": all.filter(
        ({ acknowledgedAt, delivery }) => acknowledgedAt === undefined && times.has(delivery.messages[0]!.label),
      ).length,
    },
  };
}

const byChannel = (postings: readonly Posting[]): string => {
  const counts = Object.entries(Object.groupBy(postings, ({ delivery }) => delivery.channel));
  return counts.map(([channel, { length } = []]) => `${channel}: ${length}`).join(", ") || "none";
};

function problemsOf({ delivery, acknowledgedAt, statuses }: Posting, times: ReadonlyMap<string, number>): string[] {
  const { messages } = delivery;
  const stored = messages.map(({ label }) => times.get(label) ?? 0);
  const problems = messages.flatMap(({ label }, index) =>
    stored[index]! > 1 ? [`${label} is kept ${stored[index]} times`] : [],
  );
  const { label } = messages[0]!;
  if (acknowledgedAt !== undefined && stored.includes(0)) problems.push(`${label} was answered 200 and is not kept`);
  if (new Set(stored.map((count) => count > 0)).size > 1)
    problems.push(`of the delivery with ${label} only a part is kept`);
  const odd = statuses.find((status) => !EXPECTED.has(status));
  if (odd !== undefined) problems.push(`${label} was answered ${odd}`);
  return problems;
}
