/**
 * Every answer reached its reader once. Twice is excused where nobody could have known better: the platform took it and its
 * answer got lost, or the daemon was killed before it could note that the platform had taken it. Where the platform takes
 * an idempotency key, or can be asked, there is no excuse.
 */
import type { Entry, Noted } from "../fixture/ledger.ts";
import type { Lives } from "../fixture/lives.ts";
import { conversationIn, labelIn } from "../plan/messages.ts";
import type { Provider } from "../providers/provider.ts";
import type { StoredState, StoredDelivery } from "./database.ts";
import type { Judgement } from "./judgement.ts";

export interface RepliesOptions {
  readonly providers: readonly Provider[];
  readonly ledger: Noted;
  readonly lives: Pick<Lives, "endedAtMs">;
}

export function judgeReplies({ deliveries }: Pick<StoredState, "deliveries">, fixture: RepliesOptions): Judgement {
  const { providers, ledger, lives } = fixture;
  const counts = { lost: 0, killed: 0, absorbed: 0, longestMs: 0 };
  const problems: string[] = [];
  for (const provider of providers) {
    const own = deliveries.filter(({ channel }) => channel === provider.channel);
    const taken = ledger.entries.filter(({ channel, fate }) => channel === provider.channel && fate !== "failed");
    problems.push(...misdirected(provider), ...unknownIn(provider, own, taken));
    const excuses = excusesIn(taken);
    const received = Map.groupBy(provider.received(), ({ text }) => text);
    const takings = Map.groupBy(taken, ({ text }) => text);
    for (const { n, state, error, text } of own) {
      if (state !== "sent") problems.push(`out-${n} is ${state ?? "waiting"} ${error ?? ""}`.trim());
      const arrived = received.get(text)?.length ?? 0;
      const repeated = (takings.get(text) ?? []).slice(0, -1);
      const again = repeated.map((entry) => excuses.get(entry));
      if (arrived === 0 && state === "sent") problems.push(`out-${n} is noted as sent and did not arrive`);
      if (provider.arrivesOnce) {
        counts.absorbed += again.length;
        if (arrived > 1) problems.push(`out-${n} arrived ${arrived} times, which can't be excused there`);
        continue;
      }
      if (arrived !== (takings.get(text) ?? []).length) problems.push(`out-${n}: the ledger and the platform differ`);
      counts.lost += again.filter((excuse) => excuse === "lost").length;
      for (const entry of repeated.filter((one) => excuses.get(one) === "killed")) {
        counts.killed += 1;
        counts.longestMs = Math.max(counts.longestMs, (lives.endedAtMs(entry.life) ?? Infinity) - entry.atMs);
      }
      if (again.includes(undefined)) problems.push(`out-${n} arrived ${arrived} times without an excuse`);
    }
  }
  return {
    problems,
    facts: {
      "replies to deliver": deliveries.length,
      "asked of the platforms": ledger.entries.length,
      "failed by them": ledger.entries.filter(({ fate }) => fate === "failed").length,
      "done by them, and the answer lost": ledger.entries.filter(({ fate }) => fate === "lost").length,
      "arrived twice: the platform's answer was lost": counts.lost,
      "arrived twice: killed between accepted and commit": counts.killed,
      "longest of that, ms": Math.round(counts.longestMs),
      "sent again and arrived once, by its key": counts.absorbed,
    },
  };
}

type Excuse = "lost" | "killed";

/** Why what the platform took here may be sent again. */
function excusesIn(taken: readonly Entry[]): Map<Entry, Excuse> {
  const excuses = new Map<Entry, Excuse>();
  // A queue sends the next one after the last one was recorded, so only the last message that a life sent in a queue may be unrecorded.
  for (const queue of Map.groupBy(taken, ({ to, life }) => `${life} ${to}`).values())
    excuses.set(queue.at(-1)!, "killed");
  for (const entry of taken) if (entry.fate === "lost") excuses.set(entry, "lost");
  return excuses;
}

/** An answer belongs where the question came from. */
const misdirected = (provider: Provider): string[] =>
  provider.received().flatMap(({ to, text }) => {
    const label = labelIn(text);
    const isRight = label !== undefined && provider.addressOf(conversationIn(label)) === to;
    return isRight ? [] : [`${provider.channel}: an answer went to another person (${label ?? "without a label"})`];
  });

function unknownIn({ channel }: Provider, own: readonly StoredDelivery[], taken: readonly Entry[]): string[] {
  const known = new Set(own.map(({ text }) => text));
  const problems = taken.flatMap(({ text }) =>
    known.has(text) ? [] : [`${channel}: something was sent that is not kept`],
  );
  return taken.some(({ life }) => life === 0) ? [...problems, `${channel}: something was sent by no life`] : problems;
}
