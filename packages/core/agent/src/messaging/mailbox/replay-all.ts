/** Takes up again all that failed, or all that is dead, a page in each transaction: others want to be served meanwhile. */
import type { EndedPage, Store, WaitingMessage } from "@svc/store";
import { mailIdOf } from "../delivery/settle.ts";
import { incomingId } from "../inbox/parts.ts";
import type { EndedMail, Replayed } from "../types.ts";
import type { MailboxOptions } from "./mailbox.ts";

/** A hundred thousand ids would be an answer that nobody reads. */
const NAMED = 1_000;

type Boxes = Pick<Store, "inbox" | "outbox">;

export async function countEnded({ inbox, outbox }: Boxes, ended: EndedMail): Promise<number> {
  const box = ended.state === "failed" ? inbox : outbox;
  let count = 0;
  for (let after: number | undefined = 0; after !== undefined;) {
    const { messages, next }: EndedPage<unknown> = box.ended({ ...ended, after });
    count += messages.length;
    after = next;
    await new Promise(setImmediate);
  }
  return count;
}

/** Rejects with STORE_*, or with the signal's reason: what is taken up by then stays so. */
export async function replayAll(
  options: MailboxOptions,
  { state, ...filter }: EndedMail,
  signal: AbortSignal,
): Promise<Replayed> {
  const { store } = options;
  const replayPage = state === "failed" ? replayMessages : replayDeliveries;
  // What fails again at once is behind us, and what comes in later was not asked for.
  const last = newest(store, state);
  const ids: string[] = [];
  let count = 0;
  for (let after: number | undefined = 0; after !== undefined && after < last;) {
    signal.throwIfAborted();
    const page: Page = await replayPage(options, { ...filter, after, last });
    count += page.ids.length;
    ids.push(...page.ids.slice(0, NAMED - ids.length));
    after = page.next;
  }
  return { count, ids };
}

interface PageFilter {
  readonly channel?: string;
  readonly after: number;
  /** No number beyond it. */
  readonly last: number;
}

interface Page {
  readonly ids: readonly string[];
  readonly next: number | undefined;
}

const newest = ({ inbox, outbox }: Boxes, state: EndedMail["state"]): number =>
  (state === "failed" ? inbox : outbox).list({ state }, 1)[0]?.n ?? 0;

async function replayMessages({ store, wakeInbox }: MailboxOptions, { last, ...filter }: PageFilter): Promise<Page> {
  const { inbox } = store;
  const { messages, next } = await store.write((): EndedPage<WaitingMessage> => {
    const page = inbox.ended({ ...filter, state: "failed" });
    return { ...page, messages: page.messages.filter(({ n }) => n <= last && inbox.reopen(n)) };
  });
  for (const message of messages) wakeInbox(message);
  return { ids: messages.map(({ n }) => incomingId(n)), next };
}

async function replayDeliveries({ store, dispatcher }: MailboxOptions, { last, ...filter }: PageFilter): Promise<Page> {
  const { outbox } = store;
  const { messages, next } = await store.write(() => {
    const page = outbox.ended({ ...filter, state: "dead" });
    return { ...page, messages: page.messages.filter(({ n }) => n <= last && outbox.reopen(n)) };
  });
  dispatcher.wake(messages.flatMap(({ n }) => outbox.read(n) ?? []));
  return { ids: messages.map(mailIdOf), next };
}
