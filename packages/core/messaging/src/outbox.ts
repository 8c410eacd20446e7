/**
 * Takes what waits in the outbox to its channel: in order within a conversation, conversations side by side. A delivery that waits for its
 * next attempt holds back those behind it and no other conversation; each channel has permits of its own, so one that hangs holds up only
 * itself. Nothing is sent while the disk refuses writes.
 */
import {
  type Channel,
  type Clock,
  DEFAULT_MAX_CHARS,
  type ErrorCode,
  type Logger,
  type MessageEvent,
  type OutgoingMessage,
  type PostedPrompt,
  type Prompt,
  type Receipt,
  SvcError,
} from "@svc/contract";
import { Ongoing, type Tracer, codeOf, inScope, watched } from "@svc/runtime";
import { retryDelayMs, withTimeout } from "@svc/kit/async";
import { type Delivery, MAX_CRASHES, type Store, type WaitingDelivery } from "@svc/store";
import { BACKOFF } from "./attempt.ts";
import type { FileOpener } from "./media/outgoing-files.ts";
import type { MessagingSettings, PromptSource, PromptState } from "./types.ts";
import type { SpokenAnswers } from "./speech/speech.ts";
import { type Attempted, ConversationQueue } from "@svc/agent";

export interface OutboxDeps extends DelivererDeps {
  readonly store: Pick<Store, "outbox" | "write" | "writable">;
  readonly settings: DeliverySettings;
}

export type DeliverySettings = Pick<MessagingSettings, "channels" | "isUp" | "maxAttempts">;

/** Sends of one channel at the same time. */
const PERMITS = 32;

export class OutboxDispatcher {
  readonly #deps: OutboxDeps;
  readonly #deliverer: Deliverer;
  readonly #queue: ConversationQueue<QueuedDelivery>;
  /** By delivery that is being sent: what aborts it. */
  readonly #aborts = new Map<number, AbortController>();
  readonly #sends = new Ongoing();
  /** The sends that began with the settings in force. */
  #begun = new Ongoing();
  #settings: DeliverySettings;
  #isRunning = false;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    this.#settings = deps.settings;
    this.#deliverer = new Deliverer(deps);
    this.#queue = new ConversationQueue({
      clock: deps.clock,
      begins: "soon",
      begin: (delivery, run) => {
        const sent = this.#sends.during(() => this.#begun.during(() => this.#attempt(delivery)));
        void sent.then((attempted) => run.end(attempted));
      },
      canBegin: (channel) => {
        const { channels, isUp } = this.#settings;
        return channels.has(channel) && isUp(channel) && deps.store.writable();
      },
      maxParallel: PERMITS,
      permitsPer: "channel",
    });
  }

  /** Takes up what waits on disk. The retry delays of the last process are not kept. */
  start(): void {
    this.#isRunning = true;
    for (const left of this.#deps.store.outbox.waiting()) this.#queue.add(left);
    this.#queue.start();
  }

  /** Called after the commit that added or reopened these rows. */
  wake(rows: readonly Pick<Delivery, "n" | "conversationKey" | "conversation" | "state">[]): void {
    if (!this.#isRunning) return;
    for (const { n, conversationKey, conversation, state } of rows) {
      if (state === "waiting") this.#queue.add({ n, conversationKey, channel: conversation.channel });
    }
  }

  /** How many deliveries of a conversation wait, with the one that is being sent. */
  backlog(key: string): number {
    return this.#queue.sizeOf(key);
  }

  /** No delivery of the conversation waits or is being sent. */
  isIdle(key: string): boolean {
    return this.#queue.sizeOf(key) === 0;
  }

  /** Called after the commit that dropped it. A running send is aborted; the platform may have it all the same. */
  forget({ n, conversationKey: key }: Pick<Delivery, "n" | "conversationKey">): void {
    const abort = this.#aborts.get(n);
    if (abort) abort.abort(new SvcError("TURN_CANCELLED"));
    else this.#queue.take(key, (waiting) => waiting.n === n);
  }

  /** Resolves when the sends that began before have ended. A channel that was created anew is tried at once. */
  reconfigure(settings: DeliverySettings): Promise<void> {
    const before = this.#settings.channels;
    const begun = this.#begun;
    this.#begun = new Ongoing();
    this.#settings = settings;
    this.#queue.endDelays(({ channel }) => settings.channels.get(channel) !== before.get(channel));
    this.#queue.resize(PERMITS);
    return begun.idle();
  }

  /** Begins nothing new. A running send may end within `graceMs` and is aborted then. It stays waiting on disk. */
  async stop(graceMs: number): Promise<void> {
    this.#isRunning = false;
    this.#queue.stop();
    const cancel = this.#deps.clock.after(graceMs, () => {
      for (const abort of this.#aborts.values()) abort.abort(new SvcError("DRAINING"));
    });
    await this.#sends.idle();
    cancel();
  }

  async #attempt(delivery: QueuedDelivery): Promise<Attempted> {
    const { channels, maxAttempts } = this.#settings;
    const abort = new AbortController();
    this.#aborts.set(delivery.n, abort);
    const sending = { channel: channels.get(delivery.channel)!, maxAttempts, signal: abort.signal };
    const delayMs = await this.#deliverer.deliver(delivery, sending);
    this.#aborts.delete(delivery.n);
    return delayMs === undefined ? "over" : { retryDelayMs: delayMs };
  }
}

interface DelivererDeps {
  readonly store: Pick<Store, "outbox" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly publish: (event: MessageEvent) => void;
  readonly openFile: FileOpener;
  readonly spoken: SpokenAnswers;
  /** What deliveries with an `approval` ask. Without it they are messages like any other. */
  readonly prompts?: PromptSource | undefined;
  /** Removes the buttons of a question that was resolved while it was being posted. */
  readonly closePrompt?: (posted: PostedPrompt, outcome: string) => void;
  /** Called for each failed attempt, with the delivery's number. */
  readonly onFailed?: (n: number, failure: FailedAttempt) => void;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random: () => number;
}

/**
 * `crashes`: of one that the last process left. It is noted on disk before it is sent; a note that a start finds has killed a
 * process. A delivery that was added later needs no note, which would be a commit of its own: if it kills, it is among those that the
 * next start finds.
 */
type QueuedDelivery = Pick<WaitingDelivery, "n" | "conversationKey" | "channel"> & { readonly crashes?: number };

interface Sending {
  readonly channel: Channel;
  readonly maxAttempts: number;
  /** Aborts the send. */
  readonly signal: AbortSignal;
}

interface FailedAttempt extends Pick<SvcError, "code" | "message" | "hint" | "retryAfterMs"> {
  readonly state: "failed";
}

/** `unknown`: it was aborted from outside, and stays as it is. */
type Outcome = { readonly state: "sent"; readonly receipt: Receipt } | FailedAttempt | { readonly state: "unknown" };

/** What the disk refused is tried again after this. */
const REFUSED_DELAY_MS = 1_000;
/** A row that can't be read needs a person; one log line a minute is enough. */
const UNREADABLE_DELAY_MS = 60_000;
/** How often a disk that refused is asked again. */
const COMMIT_AGAIN_MS = 1_000;
/** A platform that has said nothing for so long has lost the message; the next attempt uses another connection. */
const LIMIT_MS = 60_000;
/** The same for an answer that is spoken first. */
const SPOKEN_LIMIT_MS = 240_000;
/** Another attempt would end the same way. */
const FINAL: ReadonlySet<ErrorCode> = new Set(["DELIVERY_REFUSED", "DELIVERY_FILE_CHANGED"]);

/** One delivery: its row is read, the channel sends it, and the result is on disk before anyone is notified of it. */
class Deliverer {
  readonly #deps: DelivererDeps;

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
  }

  /** Resolves with the milliseconds after which it is tried again; undefined: it has ended. Never rejects. */
  async deliver({ n, crashes }: QueuedDelivery, sending: Sending): Promise<number | undefined> {
    const { store, log } = this.#deps;
    let delivery: Delivery | undefined;
    let question: PromptState | undefined;
    try {
      delivery = store.outbox.read(n);
      question = this.#questionOf(delivery);
    } catch (error) {
      log.error("a message that waits to be sent can't be read", { messageId: outgoingId(n), error: String(error) });
      return UNREADABLE_DELAY_MS;
    }
    if (delivery?.state !== "waiting") return undefined;
    const waiting = delivery;
    const { turnId: turn, traceparent } = waiting;
    return inScope({ turn, traceparent }, () => this.#deliverWaiting(waiting, crashes, question, sending));
  }

  async #deliverWaiting(
    delivery: Delivery,
    crashes: number | undefined,
    question: PromptState | undefined,
    { channel, maxAttempts, signal }: Sending,
  ): Promise<number | undefined> {
    const { store } = this.#deps;
    const { n } = delivery;
    // A question that was resolved, or has expired, would be answered a second time.
    if (this.#isMoot(delivery, question)) return this.#settleMoot(delivery, signal);
    if (crashes !== undefined && crashes >= MAX_CRASHES) {
      return this.#settleDead(delivery, "DELIVERY_CRASHED", 0, signal);
    }
    try {
      // Awaited: what kills at once would never be noted.
      if (crashes !== undefined) await store.write(() => store.outbox.begin(n));
    } catch {
      return REFUSED_DELAY_MS;
    }
    const outcome = await this.#tracedAttempt(channel, delivery, question?.prompt, signal);
    if (outcome.state === "unknown") {
      // A shutdown aborted the send, which killed no process.
      if (crashes !== undefined) await store.write(() => store.outbox.calledOff(n)).catch(() => undefined);
      return undefined;
    }
    if (outcome.state === "failed") this.#deps.onFailed?.(n, outcome);
    const waitMs = await this.#settle(delivery, outcome, maxAttempts, signal);
    if (outcome.state === "sent") this.#closeIfResolved(delivery, outcome.receipt);
    return waitMs;
  }

  #questionOf(delivery: Delivery | undefined): PromptState | undefined {
    return delivery?.approval === undefined ? undefined : this.#deps.prompts?.promptOf(delivery.approval);
  }

  #isMoot({ approval }: Delivery, question: PromptState | undefined): boolean {
    return this.#deps.prompts !== undefined && approval !== undefined && question?.isWaiting !== true;
  }

  /** It was resolved while it was being posted, so nothing that was posted could be closed then. */
  #closeIfResolved(delivery: Delivery, { platformId }: Receipt): void {
    const question = this.#questionOf(delivery);
    if (!question || question.isWaiting) return;
    const { conversation, text } = delivery;
    this.#deps.closePrompt?.({ conversation, platformId, text }, question.outcome ?? "This is settled.");
  }

  /** As `attempt`, as one span. */
  #tracedAttempt(
    channel: Channel,
    delivery: Delivery,
    prompt: Prompt | undefined,
    called: AbortSignal,
  ): Promise<Outcome> {
    const { tracer } = this.#deps;
    if (!tracer.isWatched) return this.#attempt(channel, delivery, prompt, called);
    const about = { messageId: outgoingId(delivery.n), channel: delivery.conversation.channel };
    const span = tracer.begin("delivery", { ...about, attempt: delivery.attempts + 1 });
    const send = () => this.#attempt(channel, delivery, prompt, called);
    return watched(span, send, (error, outcome) => ({ error: outcome ? errorOf(outcome, called) : error }));
  }

  /**
   * One attempt to send. `prompt`: what the delivery asks. Never rejects, and ends when `called` is aborted or the time is over,
   * whether the channel listens or not.
   */
  async #attempt(
    channel: Channel,
    delivery: Delivery,
    prompt: Prompt | undefined,
    called: AbortSignal,
  ): Promise<Outcome> {
    const { clock } = this.#deps;
    const timeoutMs = isSpoken(delivery) ? SPOKEN_LIMIT_MS : LIMIT_MS;
    const limit = { clock, timeoutMs, signal: called, error: () => new SvcError("REMOTE_TIMEOUT") };
    const post = async (signal: AbortSignal): Promise<Receipt> => {
      const message = await this.#messageOf(channel, delivery, signal);
      signal.throwIfAborted();
      if (prompt && channel.prompts) return channel.prompts.post(message, prompt, signal);
      return sendOrEdit(channel, message, delivery.draft, signal);
    };
    try {
      return { state: "sent", receipt: await withTimeout(limit, post) };
    } catch (error) {
      if (called.aborted) return { state: "unknown" };
      if (error instanceof SvcError) return failedBy(error);
      this.#deps.log.error("a channel failed unexpectedly", {
        messageId: outgoingId(delivery.n),
        channel: delivery.conversation.channel,
        // Only its name: its message may be the platform's words.
        error: error instanceof Error ? error.name : typeof error,
      });
      return failedBy(new SvcError("DELIVERY_FAILED"));
    }
  }

  async #messageOf(channel: Channel, delivery: Delivery, signal: AbortSignal): Promise<OutgoingMessage> {
    const { openFile, spoken } = this.#deps;
    const { conversation, text, files, deliveryId, replyData, approval } = delivery;
    const maxBytes = channel.media?.maxBytes ?? 0;
    const opened = await Promise.all(
      files.map((file) =>
        file.speak === undefined ? openFile(file, maxBytes) : spoken.fileOf(delivery.n, file, channel.media, signal),
      ),
    );
    return {
      conversation,
      // The author of a question knows no channel's limits, and a question in two parts would be asked twice.
      text: approval === undefined ? text : shortened(text, channel.text?.maxChars ?? DEFAULT_MAX_CHARS),
      deliveryId,
      ...(opened.length > 0 && { files: opened }),
      ...(replyData !== undefined && { replyData }),
      ...(mayOpen(delivery) && { mayOpen: true }),
    };
  }

  /**
   * Resolves with the milliseconds after which it is tried again; undefined: it has ended. What can't be written is held until
   * the disk takes it, because a delivery that was sent must not be sent again; aborting `signal` gives that up.
   */
  async #settle(
    delivery: Delivery,
    outcome: Exclude<Outcome, { state: "unknown" }>,
    maxAttempts: number,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    if (outcome.state === "sent") return this.#settleSent(delivery, outcome.receipt, signal);
    const { code, retryAfterMs } = outcome;
    const attempts = delivery.attempts + 1;
    if (isSpoken(delivery) && (FINAL.has(code) || code === "SPEECH_FAILED" || attempts >= maxAttempts)) {
      return this.#settleUnspoken(delivery, code, signal);
    }
    if (FINAL.has(code) || attempts >= maxAttempts) return this.#settleDead(delivery, code, 1, signal);
    const { store, clock, random } = this.#deps;
    const waitMs = retryDelayMs(attempts, BACKOFF, { askedMs: retryAfterMs, random });
    const noted = await this.#commit(
      delivery,
      () => store.outbox.retry(delivery.n, code, clock.now() + waitMs),
      signal,
    );
    return noted === "noted" ? waitMs : undefined;
  }

  async #settleSent(delivery: Delivery, receipt: Receipt, signal: AbortSignal): Promise<undefined> {
    const { store, clock, log, publish, prompts, spoken } = this.#deps;
    const { n, conversation, turnId, attempts, approval } = delivery;
    const messageId = outgoingId(n);
    if (isSpoken(delivery)) spoken.forget(n);
    const sent = (): boolean => {
      const wasWaiting = store.outbox.sent(n, receipt.platformId, clock.now());
      if (wasWaiting && approval !== undefined) prompts?.posted(approval, n, receipt);
      return wasWaiting;
    };
    const noted = await this.#commit(delivery, sent, signal);
    if (noted === "noted") {
      publish({ type: "message-delivered", messageId, conversation, turnId, attempts: attempts + 1 });
    } else if (noted === "given up") {
      const { channel } = conversation;
      log.error("a message was sent and that could not be kept; the next start sends it again", { messageId, channel });
    }
  }

  /** The text of a spoken answer is a delivery of its own, so no word is missing. */
  async #settleUnspoken(delivery: Delivery, code: ErrorCode, signal: AbortSignal): Promise<undefined> {
    const { store, spoken, log } = this.#deps;
    const noted = await this.#commit(delivery, () => store.outbox.drop(delivery.n), signal);
    if (noted !== "noted") return;
    spoken.forget(delivery.n);
    const { channel } = delivery.conversation;
    const messageId = outgoingId(delivery.n);
    log.warn("an answer could not be sent as speech; its text was", { messageId, channel, code });
  }

  /** A dead letter, because of an attempt that failed or, as it kills the process, without one. As `settle`. */
  async #settleDead(
    delivery: Delivery,
    code: ErrorCode,
    failedAttempts: 0 | 1,
    signal: AbortSignal,
  ): Promise<undefined> {
    const { store, clock, log, publish } = this.#deps;
    const { n, conversation, turnId } = delivery;
    const dead = (): boolean => store.outbox.dead(n, code, clock.now(), failedAttempts);
    if ((await this.#commit(delivery, dead, signal)) !== "noted") return;
    const messageId = outgoingId(n);
    // Neither the message nor the platform's answer is logged: both are other people's words.
    const attempts = delivery.attempts + failedAttempts;
    log.warn("a message could not be delivered", { messageId, channel: conversation.channel, code, attempts });
    publish({ type: "message-failed", messageId, conversation, turnId, code });
  }

  /** A question whose answer is no longer needed. As `settle`. */
  async #settleMoot(delivery: Delivery, signal: AbortSignal): Promise<undefined> {
    await this.#commit(delivery, () => this.#deps.store.outbox.drop(delivery.n), signal);
  }

  /** `gone`: it was dropped meanwhile, and stays so. */
  async #commit(
    delivery: Delivery,
    change: () => boolean,
    signal: AbortSignal,
  ): Promise<"noted" | "gone" | "given up"> {
    const { store, clock, log } = this.#deps;
    for (let isFirst = true; ; isFirst = false) {
      // Read before the attempt: after an abort there is one more.
      const isLast = signal.aborted;
      try {
        return (await store.write(change)) ? "noted" : "gone";
      } catch (error) {
        if (isLast) return "given up";
        const messageId = outgoingId(delivery.n);
        if (isFirst) log.error("what became of a message can't be kept yet", { messageId, error: String(error) });
        await clock.sleep(COMMIT_AGAIN_MS, signal).catch(() => undefined);
      }
    }
  }
}

/** Sends the message, or edits its draft that people see already. `draft`: the platform's id of it. Throws as `Channel.send`. */
async function sendOrEdit(
  channel: Channel,
  message: OutgoingMessage,
  draft: string | undefined,
  signal: AbortSignal,
): Promise<Receipt> {
  const { drafts } = channel;
  if (draft === undefined || !drafts) return channel.send(message, signal);
  const { conversation, text, replyData } = message;
  try {
    const sent = { conversation, platformId: draft, ...(replyData !== undefined && { replyData }) };
    await drafts.edit(sent, text, signal);
    return { platformId: draft };
  } catch (error) {
    // The draft is gone, or can't be edited any more.
    if (!(error instanceof SvcError) || error.code !== "DELIVERY_REFUSED") throw error;
    signal.throwIfAborted();
    return channel.send(message, signal);
  }
}

/** Begins the keys of what a person sends with `svc send`. */
export const SENT_BY_PERSON = "send:";

/**
 * Whether the delivery may open a conversation: only `channel_send` and `svc send` may. Answers have the data of what they answer;
 * questions and notices of their end have keys of their own; notices have none.
 */
function mayOpen({ key, turnId, replyData }: Pick<Delivery, "key" | "turnId" | "replyData">): boolean {
  if (key === undefined || replyData !== undefined) return false;
  return key.startsWith(SENT_BY_PERSON) || (turnId !== undefined && key.startsWith(`${turnId}:`));
}

/** At most `maxChars` UTF-16 units of a text, with an ellipsis if something is missing. Never half of a surrogate pair. */
export function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const isInPair = /[\uD800-\uDBFF]/.test(text.charAt(maxChars - 2));
  return `${text.slice(0, maxChars - (isInPair ? 2 : 1)).trimEnd()}…`;
}

/** What people call a delivery. */
export const outgoingId = (n: number): string => `out-${n}`;

/** An answer that goes out as speech, behind the same words as text. */
const isSpoken = ({ files }: Pick<Delivery, "files">): boolean => files.some(({ speak }) => speak !== undefined);

const failedBy = ({ code, message, hint, retryAfterMs }: SvcError): FailedAttempt => ({
  state: "failed",
  code,
  message,
  hint,
  retryAfterMs,
});

function errorOf(outcome: Outcome, called: AbortSignal): ErrorCode | undefined {
  if (outcome.state === "sent") return undefined;
  return outcome.state === "failed" ? outcome.code : codeOf(called.reason, "TURN_CANCELLED");
}
