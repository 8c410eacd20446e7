/** Both boxes for whoever looks after the service: what came in, what goes out, and what became of it. */
import { SvcError } from "@svc/contract";
import type { Delivery, InboxMessage, Store, WaitingMessage } from "@svc/store";
import type { OutboxDispatcher } from "../delivery/dispatcher.ts";
import type { Mail, Mailbox, MailDetail } from "../types.ts";
import { detailOfMessage, mailOfMessage, detailOfDelivery, mailOfDelivery, type Redact } from "./mail.ts";
import { countEnded, replayAll } from "./replay-all.ts";

export interface MailboxOptions {
  readonly store: Pick<Store, "inbox" | "outbox" | "write">;
  readonly redact: Redact;
  readonly dispatcher: Pick<OutboxDispatcher, "wake" | "forget">;
  /** Told of an incoming message that waits again. */
  readonly wakeInbox: (message: WaitingMessage) => void;
  /** Stops the turn if it runs; told after its message was dropped. */
  readonly stopTurn: (turnId: string) => void;
}

export function createMailbox(options: MailboxOptions): Mailbox {
  const { store, redact } = options;
  const { inbox, outbox } = store;
  return {
    counts: () => inbox.counts(),
    list({ box, ...filter }, limit) {
      const incoming = box === "out" ? [] : inbox.list(filter, limit).map((message) => mailOfMessage(message, redact));
      const outgoing =
        box === "in" ? [] : outbox.list(filter, limit).map((delivery) => mailOfDelivery(delivery, redact));
      // Of the same instant, the answer is the newer one.
      return [...outgoing, ...incoming].sort((a, b) => b.atMs - a.atMs).slice(0, limit);
    },
    show(id): MailDetail {
      const mail = found(options, id);
      if (mail.box === "out") return detailOfDelivery(mail.row, redact);
      return detailOfMessage(mail.row, outbox.ofTurn(mail.row.turnId), redact);
    },
    async replay(id) {
      const mail = found(options, id);
      return mail.box === "out" ? replayDelivery(options, mail.row) : replayMessage(options, mail.row);
    },
    countEnded: (ended) => countEnded(store, ended),
    replayAll: (ended, signal) => replayAll(options, ended, signal),
    async drop(id) {
      const mail = found(options, id);
      return mail.box === "out" ? dropDelivery(options, mail.row) : dropMessage(options, mail.row);
    },
  };
}

type Found = { readonly box: "in"; readonly row: InboxMessage } | { readonly box: "out"; readonly row: Delivery };

/** Throws MESSAGE_UNKNOWN. */
function found({ store }: MailboxOptions, id: string): Found {
  const [, box, digits] = /^(in|out)-([1-9]\d{0,14})$/.exec(id) ?? [];
  const n = Number(digits);
  if (box === "in") {
    const row = store.inbox.read(n);
    if (row) return { box, row };
  } else if (box === "out") {
    const row = store.outbox.read(n);
    if (row) return { box, row };
  }
  throw new SvcError("MESSAGE_UNKNOWN", undefined, { hint: "See svc inbox list." });
}

// Every change looks at the state inside of its transaction: what was read before may have gone on meanwhile.

async function replayMessage(options: MailboxOptions, { n, turnId, state, kind }: InboxMessage): Promise<Mail> {
  const { store, redact, dispatcher, wakeInbox } = options;
  const { message, deliveries } = await store.write(() => {
    const isReopened = store.inbox.reopen(n);
    return {
      message: isReopened ? store.inbox.read(n) : undefined,
      deliveries: isReopened ? [] : reopenDead(store, turnId),
    };
  });
  if (message) wakeInbox(message);
  else if (deliveries.length === 0)
    throw stateError(
      state === "waiting" ? PENDING : kind === "locked" ? LOCKED : "It is over, and nothing of it is dead.",
    );
  dispatcher.wake(deliveries);
  return mailOfMessage(message ?? store.inbox.read(n)!, redact);
}

/** Inside a transaction. */
function reopenDead({ outbox }: MailboxOptions["store"], turnId: string): Delivery[] {
  const dead = outbox.ofTurn(turnId).filter(({ state }) => state === "dead");
  for (const { n } of dead) outbox.reopen(n);
  return dead.map(({ n }) => outbox.read(n)!);
}

async function replayDelivery({ store, redact, dispatcher }: MailboxOptions, { n, state }: Delivery): Promise<Mail> {
  const delivery = await store.write(() => (store.outbox.reopen(n) ? store.outbox.read(n) : undefined));
  if (!delivery) throw stateError(state === "waiting" ? PENDING : "It was sent.");
  dispatcher.wake([delivery]);
  return mailOfDelivery(delivery, redact);
}

async function dropMessage({ store, redact, stopTurn }: MailboxOptions, { n }: InboxMessage): Promise<Mail> {
  const message = await store.write(() => (store.inbox.end(n, "dropped") ? store.inbox.read(n) : undefined));
  if (!message) throw stateError(ENDED);
  stopTurn(message.turnId);
  return mailOfMessage(message, redact);
}

async function dropDelivery({ store, redact, dispatcher }: MailboxOptions, { n }: Delivery): Promise<Mail> {
  const delivery = await store.write(() => (store.outbox.drop(n) ? store.outbox.read(n) : undefined));
  if (!delivery) throw stateError(ENDED);
  dispatcher.forget(delivery);
  return mailOfDelivery(delivery, redact);
}

const PENDING = "It waits, or is being worked on.";
const LOCKED = "It is encrypted, and its keys have not come: ask its sender to send it again.";
const ENDED = "Nothing is tried for it any more.";

const stateError = (message: string): SvcError => new SvcError("MESSAGE_STATE", message);
