/** Both boxes in memory, with one message of each kind. */
import type { MessageSummary, MessageAdmin, MessageDetail, MessageListFilter, Replayed } from "@svc/messaging";
import { type ErrorCode, SvcError } from "@svc/contract";
import type { MessageCounts } from "@svc/store";

const conversation = { channel: "provider_a", id: "+4911", thread: "t" };
const ANSWER: MessageSummary = {
  id: "out-7",
  state: "dead",
  waitsFor: undefined,
  channel: "provider_a",
  conversation,
  sender: undefined,
  text: "ho",
  attempts: 12,
  atMs: 2_000,
  endedAtMs: 3_000,
  error: "DELIVERY_REFUSED",
  turnId: "turn-1",
};
const MESSAGE: MessageSummary = {
  ...ANSWER,
  id: "in-12",
  state: "done",
  sender: "+4911",
  text: "hi",
  attempts: 0,
  atMs: 1_000,
  endedAtMs: 2_000,
  error: undefined,
};
const NOTICE: MessageSummary = {
  ...MESSAGE,
  id: "in-13",
  state: "waiting",
  channel: "mailpush",
  conversation: undefined,
  sender: undefined,
  text: "",
  endedAtMs: undefined,
  turnId: undefined,
};

export class FakeMessageAdmin implements MessageAdmin {
  mails: readonly MessageSummary[] = [NOTICE, ANSWER, MESSAGE];
  readonly replayed: string[] = [];
  readonly dropped: string[] = [];
  /** How `list` was asked. */
  readonly asked: { readonly filter: MessageListFilter; readonly limit: number }[] = [];
  oldestWaitingMs: number | undefined = 61_500;
  /** As long as it is set, nothing can be changed. */
  fails: ErrorCode | undefined;

  counts(): MessageCounts {
    return {
      inbox: { waiting: 1, done: 1, failed: 0, dropped: 0 },
      outbox: { waiting: 0, sent: 0, dead: 1, dropped: 0 },
      locked: 0,
      oldestWaitingMs: this.oldestWaitingMs,
      oldestMs: { inbox: 0, outbox: 0 },
    };
  }

  list(filter: MessageListFilter, limit: number): MessageSummary[] {
    this.asked.push({ filter, limit });
    return this.mails.slice(0, limit);
  }

  show(id: string): MessageDetail {
    const mail = this.#find(id);
    return {
      ...mail,
      kind: mail === ANSWER ? "delivery" : mail === NOTICE ? "notice" : "message",
      files: mail === ANSWER ? [{ kind: "image", name: "a.png" }] : [],
      deliveries: mail === MESSAGE ? [ANSWER] : [],
      platformId: mail === ANSWER ? "p-1" : undefined,
      platformStatus: mail === ANSWER ? "read" : undefined,
      platformReason: undefined,
      notice: mail === NOTICE ? { historyId: "9" } : undefined,
    };
  }

  replay(id: string): Promise<MessageSummary> {
    return this.#change(id, this.replayed, "waiting");
  }

  // Nobody asks for these over HTTP.
  countEnded = (): Promise<number> => Promise.reject(new SvcError("INTERNAL"));
  replayAll = (): Promise<Replayed> => Promise.reject(new SvcError("INTERNAL"));

  drop(id: string): Promise<MessageSummary> {
    return this.#change(id, this.dropped, "dropped");
  }

  async #change(id: string, done: string[], state: MessageSummary["state"]): Promise<MessageSummary> {
    const mail = this.#find(id);
    if (this.fails) throw new SvcError(this.fails);
    done.push(id);
    return { ...mail, state };
  }

  #find(id: string): MessageSummary {
    const mail = this.mails.find((one) => one.id === id);
    if (!mail) throw new SvcError("MESSAGE_UNKNOWN");
    return mail;
  }
}
