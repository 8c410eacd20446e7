/** Within a conversation everything happens in the order of arrival: turns, answers, and what people read. */
import type { Noted } from "../fixture/ledger.ts";
import type { Postings } from "../fixture/poster.ts";
import { labelIn } from "../plan/messages.ts";
import type { Provider } from "../providers/provider.ts";
import type { StoredState, StoredMessage } from "./database.ts";
import type { Judgement } from "./judgement.ts";

export interface OrderOptions {
  readonly providers: readonly Pick<Provider, "channel">[];
  readonly ledger: Noted;
}

export function judgeOrder(stored: StoredState, { ledger, providers }: OrderOptions, postings: Postings): Judgement {
  const messages = stored.messages.filter(({ kind }) => kind === "message");
  const arrivals = new Map(messages.map(({ turnId, n }) => [turnId, n]));
  const problems: string[] = [];
  const turns = Map.groupBy(stored.turns, ({ queue }) => queue);
  for (const [queue, all] of turns) {
    if (!isAscending(all.map(({ id }) => arrivals.get(id) ?? 0))) problems.push(`turns of ${queue} are out of order`);
  }
  for (const [queue, all] of Map.groupBy(stored.deliveries, ({ queue }) => queue)) {
    const order = all.map(({ turnId }) => arrivals.get(turnId ?? "") ?? 0);
    if (!isAscending(order)) problems.push(`answers of ${queue} were written out of order`);
  }
  for (const { channel } of providers) {
    const numbers = new Map(stored.deliveries.filter((one) => one.channel === channel).map(({ text, n }) => [text, n]));
    const taken = ledger.entries.filter((entry) => entry.channel === channel && entry.fate !== "failed");
    for (const [to, all] of Map.groupBy(taken, (entry) => entry.to)) {
      const order = all.map(({ text }) => numbers.get(text) ?? 0);
      if (!isAscending(order)) problems.push(`${channel}: answers to ${to} arrived out of order`);
    }
  }
  return { problems: [...problems, ...overtaken(messages, postings)], facts: { conversations: turns.size } };
}

const isAscending = (numbers: readonly number[]): boolean =>
  numbers.every((number, index) => index === 0 || numbers[index - 1]! <= number);

/** What was acknowledged before another was posted comes before it. */
function overtaken(messages: readonly StoredMessage[], postings: Postings): string[] {
  const postingOf = new Map(
    [...postings.values()].flatMap((posting) =>
      posting.delivery.messages.map(({ label }) => [label, posting] as const),
    ),
  );
  return [...Map.groupBy(messages, ({ queue }) => queue)].flatMap(([queue, all]) => {
    // Of those that come later the first to be acknowledged.
    let earliest = Infinity;
    for (const { text } of all.toReversed()) {
      const posting = postingOf.get(labelIn(text) ?? "");
      if (!posting) continue;
      if (posting.begunAt > earliest) return [`messages of ${queue} were kept out of order`];
      earliest = Math.min(earliest, posting.acknowledgedAt ?? Infinity);
    }
    return [];
  });
}
