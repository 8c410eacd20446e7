/** A run as it should be, small enough to be broken in one place: two messages of one conversation, answered in order. */
import type { Entry } from "../src/fixture/ledger.ts";
import { actOf, answerTo, fileOf } from "../src/fixture/model.ts";
import type { Posting, Postings } from "../src/fixture/poster.ts";
import type { StoredState, StoredCall, StoredDelivery, StoredMessage } from "../src/judge/database.ts";
import { type Message, textOf } from "../src/plan/messages.ts";
import type { Provider, Sending } from "../src/providers/provider.ts";

const CHANNEL = "one";
const QUEUE = '["one","a1"]';
const MESSAGES: readonly Message[] = [
  { label: "a1-1", kind: "note", conversation: "a1" },
  { label: "a1-2", kind: "act", conversation: "a1" },
];

export interface World {
  readonly stored: StoredState;
  readonly postings: Postings;
  readonly providers: readonly Provider[];
  readonly ledger: { readonly entries: readonly Entry[] };
  readonly lives: { endedAtMs(life: number): number };
}

/** What differs from what should be. */
export interface Wrong {
  readonly messages?: readonly StoredMessage[];
  readonly deliveries?: readonly StoredDelivery[];
  readonly turns?: StoredState["turns"];
  readonly calls?: readonly StoredCall[];
  readonly leftOver?: StoredState["leftOver"];
  readonly postings?: readonly Posting[];
  readonly entries?: readonly Entry[];
  readonly received?: readonly Sending[];
  readonly arrivesOnce?: boolean;
}

export function world(wrong: Wrong = {}): World {
  const entries = wrong.entries ?? ENTRIES;
  const received = wrong.received ?? entries.filter(({ fate }) => fate !== "failed");
  const provider = {
    channel: CHANNEL,
    arrivesOnce: wrong.arrivesOnce ?? false,
    received: () => received,
    addressOf: (conversation: string) => `to ${conversation}`,
  } as unknown as Provider;
  return {
    stored: {
      messages: wrong.messages ?? STORED,
      deliveries: wrong.deliveries ?? DELIVERIES,
      turns: wrong.turns ?? STORED.map(({ turnId }) => ({ id: turnId, queue: QUEUE })),
      calls: wrong.calls ?? CALLS,
      leftOver: wrong.leftOver ?? { steps: 0 },
      integrity: ["ok"],
    },
    postings: new Map((wrong.postings ?? POSTINGS).map((posting) => [posting.delivery.n, posting])),
    providers: [provider],
    ledger: { entries },
    lives: { endedAtMs: () => 1000 },
  };
}

const turnOf = ({ label }: Message): string => `turn of ${label}`;

export const STORED: readonly [StoredMessage, StoredMessage] = MESSAGES.map((message, index) => ({
  n: index + 1,
  turnId: turnOf(message),
  channel: CHANNEL,
  kind: "message",
  queue: QUEUE,
  text: textOf(message),
  state: "done",
  error: null,
})) as unknown as [StoredMessage, StoredMessage];

export const DELIVERIES: readonly [StoredDelivery, StoredDelivery] = MESSAGES.map((message, index) => ({
  n: index + 1,
  turnId: turnOf(message),
  channel: CHANNEL,
  queue: QUEUE,
  text: answerTo(message.kind, message.label, false),
  state: "sent",
  error: null,
})) as unknown as [StoredDelivery, StoredDelivery];

export const ENTRIES: readonly [Entry, Entry] = DELIVERIES.map(({ text }, index) => ({
  channel: CHANNEL,
  to: "to a1",
  text,
  life: 1,
  fate: "taken",
  atMs: index,
})) as unknown as [Entry, Entry];

export const CALLS: readonly [StoredCall, StoredCall] = [1, 2].map((number) => ({
  turnId: turnOf(MESSAGES[1]!),
  tool: "file_write",
  input: JSON.stringify({ path: fileOf("a1-2"), content: `${actOf("a1-2", number)}\n`, mode: "append" }),
  state: "finished",
})) as unknown as [StoredCall, StoredCall];

export const POSTINGS: readonly [Posting, Posting] = MESSAGES.map((message, n) => ({
  delivery: { n, channel: CHANNEL, messages: [message] },
  begunAt: 2 * n + 1,
  acknowledgedAt: 2 * n + 2,
  statuses: [200],
})) as unknown as [Posting, Posting];
