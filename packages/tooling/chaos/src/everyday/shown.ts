/**
 * What people see in the end: every answer whole, once, in order. Twice, or a beginning of it beside it, is excused where
 * nobody could have known better: the platform took it and its answer got lost, or the daemon was killed before it could note
 * that. Where the platform takes an idempotency key there is no excuse.
 */
import { labelIn, numberIn } from "../plan/messages.ts";
import type { StoredState, StoredDelivery } from "../judge/database.ts";
import type { Judgement } from "../judge/judgement.ts";
import type { EverydayChannel } from "./asking.ts";
import type { Asked } from "./ledger.ts";
import type { Written } from "./people.ts";

export interface Shown {
  readonly channel: string;
  readonly chat: string;
  readonly text: string;
}

export interface ShownOptions {
  readonly writings: readonly Written[];
  /** In each chat in the order in which people see it. */
  readonly shown: readonly Shown[];
  readonly asked: readonly Asked[];
  readonly chatOf: (written: Written) => string;
  /** `<life> <label>` of beginnings that were noted when the life was killed. */
  readonly noted: ReadonlySet<string>;
}

/**
 * No answer is there twice, whatever happens. A beginning may be: the end is sent by another key, as it must not be taken for
 * the beginning.
 */
const BY_KEY: ReadonlySet<string> = new Set<EverydayChannel>(["discord"]);

/** Share of the answers. */
const MOST_GIVEN_UP = 0.02;

export function judgeShown(stored: Pick<StoredState, "messages" | "deliveries">, options: ShownOptions): Judgement {
  const { writings, shown, asked, chatOf, noted } = options;
  const problems: string[] = [];
  const counts = { lost: 0, killed: 0, beginnings: 0, byKey: 0, givenUp: 0, drafted: 0, goneOn: 0 };
  const rowsOf = rowsByLabel(stored);
  const taken = asked.filter(({ fate }) => fate !== "failed");
  const excuses = excusesIn(taken, noted);
  const takenOf = Map.groupBy(taken, ({ text }) => labelIn(text) ?? "");
  const shownOf = Map.groupBy(shown, ({ text }) => labelIn(text) ?? "");
  for (const written of writings) {
    const { label, channel } = written;
    const all = rowsOf.get(label) ?? [];
    // What was on its way at one kill after the other may be what kills, and is given up.
    const rows = all.filter(({ error }) => error !== "DELIVERY_CRASHED");
    counts.givenUp += all.length - rows.length;
    const there = shownOf.get(label) ?? [];
    shownOf.delete(label);
    for (const { n, state, error } of rows) {
      if (state !== "sent") problems.push(`${label}: out-${n} is ${state ?? "waiting"} ${error ?? ""}`.trim());
    }
    if (there.some(({ chat }) => chat !== chatOf(written))) problems.push(`${label} was answered somewhere else`);
    const missing = rows.filter(({ text }) => !there.some((one) => one.text === text));
    if (all.length === 0 || missing.length > 0) problems.push(`${label} is not answered`);
    const beginnings = there.filter((one) => !rows.some(({ text }) => text === one.text));
    const entries = takenOf.get(label) ?? [];
    const posts = entries.filter(({ kind }) => kind === "post");
    counts.drafted += Number(entries.some(({ kind }) => kind === "edit"));
    counts.goneOn += Number(isGoneOn(entries));
    const extra = there.length - rows.length;
    const isByKey = BY_KEY.has(channel);
    if (isByKey) counts.byKey += posts.length - there.length;
    const whole = there.length - beginnings.length - rows.length;
    if (isByKey && whole > 0) problems.push(`${label} is there twice, which can't be excused on ${channel}`);
    if (!isByKey && posts.length !== there.length) problems.push(`${label}: the ledger and the platform differ`);
    const excused = posts.slice(0, -1).flatMap((post) => excuses.get(post) ?? []);
    if (extra > excused.length) problems.push(`${label} is there ${extra} times too often without an excuse`);
    counts.beginnings += beginnings.length;
    for (const excuse of excused) counts[excuse] += 1;
  }
  for (const [label, all] of shownOf) problems.push(`nobody asked for ${label || "something"} (${all.length} times)`);
  if (counts.givenUp > writings.length * MOST_GIVEN_UP) problems.push(`${counts.givenUp} answers were given up`);
  return {
    problems: [...problems, ...disorder(shown)],
    facts: {
      "seen being written": counts.drafted,
      "of them gone on with after a kill": counts.goneOn,
      "there twice: the platform's answer was lost": counts.lost,
      "there twice: killed between accepted and commit": counts.killed,
      "of both a beginning only": counts.beginnings,
      "given up, on its way at three kills": counts.givenUp,
      "sent again and there once, by its key": counts.byKey,
    },
  };
}

function rowsByLabel({
  messages,
  deliveries,
}: Pick<StoredState, "messages" | "deliveries">): Map<string, StoredDelivery[]> {
  const labels = new Map(messages.map(({ turnId, text }) => [turnId, labelIn(text) ?? ""]));
  return Map.groupBy(deliveries, ({ turnId }) => labels.get(turnId ?? "") ?? "");
}

type Excuse = "lost" | "killed";

/** Why what the platform took here may be there again. */
function excusesIn(taken: readonly Asked[], noted: ShownOptions["noted"]): Map<Asked, Excuse> {
  const excuses = new Map<Asked, Excuse>();
  // What follows in a chat, an edit too, follows what is noted: only the last that a life asked for there may be unnoted.
  for (const queue of Map.groupBy(taken, ({ chat, life }) => `${life} ${chat}`).values()) {
    const last = queue.at(-1)!;
    if (!noted.has(`${last.life} ${labelIn(last.text)}`)) excuses.set(last, "killed");
  }
  for (const entry of taken) if (entry.fate === "lost") excuses.set(entry, "lost");
  return excuses;
}

/** What one life began is edited by a later one. */
function isGoneOn(entries: readonly Asked[]): boolean {
  const lastPost = entries.findLast(({ kind }) => kind === "post");
  const lastEdit = entries.findLast(({ kind }) => kind === "edit");
  return lastPost !== undefined && lastEdit !== undefined && lastEdit.life > lastPost.life;
}

function disorder(shown: readonly Shown[]): string[] {
  return [...Map.groupBy(shown, ({ channel, chat }) => `${channel} ${chat}`)].flatMap(([chat, all]) => {
    const numbers = all.flatMap(({ text }) => labelIn(text) ?? []).map(numberIn);
    const at = numbers.findIndex((number, index) => index > 0 && numbers[index - 1]! > number);
    return at < 0 ? [] : [`${chat}: answer ${numbers[at]} stands behind answer ${numbers[at - 1]}`];
  });
}
