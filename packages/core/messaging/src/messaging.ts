/** Inbox, outbox and message admin, put together. */
import { randomInt } from "node:crypto";
import { type Tracer, NO_TRACER } from "@svc/runtime";
import { fieldsOf, keyOfConversation } from "@svc/kit";
import type { Store } from "@svc/store";
import { StoredMessageAdmin } from "./admin.ts";
import { type OutboxDeps, OutboxDispatcher, outgoingId } from "./outbox.ts";
import { fileOpener } from "./media/outgoing-files.ts";
import { SpeechPermits, SpokenAnswers, createSpeech } from "./speech/speech.ts";
import { Inbox, newMessageOf } from "./inbox.ts";
import type { MessageDeps } from "./process-message.ts";
import type { DeliveryFailure, InTransaction, Messaging, MessagingSettings, PromptSource } from "./types.ts";
import { type Channel, type Clock, type Logger, type PostedPrompt, SvcError } from "@svc/contract";
import { KeyedQueue, withTimeout } from "@svc/kit/async";

export interface MessagingOptions extends Omit<
  MessageDeps,
  "store" | "dispatcher" | "tracer" | "transcriber" | "settings" | "random"
> {
  readonly store: Store;
  readonly settings: MessagingSettings;
  /** The questions of deliveries with an `approval`. */
  readonly prompts?: PromptSource;
  /** Takes the configured secrets out of what a person is shown. */
  readonly redact: (text: string) => string;
  /** For spans of messages that wait and of deliveries. Default: none. */
  readonly tracer?: Tracer;
  /** 0 ≤ x < 1, for the jitter of retries. Default: unpredictable. */
  readonly random?: () => number;
}

export function createMessaging(options: MessagingOptions): Messaging {
  const { store, agent, clock, log, publish, redact, prompts, workspaceOf, fetch, runProgram } = options;
  const { tracer = NO_TRACER, random = unpredictable } = options;
  let { settings } = options;
  const openFile = fileOpener(workspaceOf);
  const closing = new ClosingPrompts({ clock, log, channelOf: (id) => settings.channels.get(id) });
  const closePrompt: Messaging["closePrompt"] = (posted, outcome) => closing.add(posted, outcome);
  const transcriber = new SpeechPermits();
  const speech = createSpeech({ fetch, runProgram, clock, transcriber, settings: () => settings });
  const spoken = new SpokenAnswers((text, signal, format) => speech.speak(text, signal, format));
  const sending = { openFile, spoken, prompts, closePrompt };
  const reporting = { log, tracer, publish };
  const failures = new Map<string, DeliveryFailure>();
  const onFailed: OutboxDeps["onFailed"] = (n, { message, hint }) => {
    const id = outgoingId(n);
    failures.delete(id);
    failures.set(id, { message, hint });
    if (failures.size > MOST_FAILURES) failures.delete(failures.keys().next().value!);
  };
  const dispatcher = new OutboxDispatcher({ store, clock, random, settings, onFailed, ...reporting, ...sending });
  const inbox = new Inbox({ ...options, tracer, random, dispatcher, transcriber, settings: () => settings });
  const messageAdmin = new StoredMessageAdmin({
    store,
    log,
    redact,
    dispatcher,
    wakeInbox: (message) => inbox.wake(message),
    stopTurn: (turnId) => inbox.stopTurn(turnId),
  });
  return {
    accept: (arrival, inTransaction) => inbox.accept(arrival, inTransaction),
    async receive(channel, messages, inTransaction, { withdrawn = [], ended = [] } = {}) {
      const both: InTransaction = (arrival, arrived) => {
        const committed = inTransaction?.(arrival, arrived);
        const dropped = withdrawn.length === 0 ? [] : dropWithdrawn(store, channel, withdrawn);
        const unread = ended.flatMap(({ id, as }) => {
          const locked = store.inbox.endLocked(channel, id, as);
          return as === "failed" ? (locked ?? []) : [];
        });
        return () => {
          committed?.();
          for (const turnId of dropped) inbox.stopTurn(turnId);
          for (const message of unread) inbox.failedUnread(message);
        };
      };
      const arrived = await inbox.accept({ channel, messages: messages.map(newMessageOf) }, both);
      return arrived.state === "replayed"
        ? []
        : arrived.messages.map((outcome) => (outcome === "duplicate" ? outcome : "kept"));
    },
    start() {
      dispatcher.start();
      inbox.start();
    },
    replyByHand: (reply) => inbox.replyByHand({ ...reply, text: redact(reply.text) }),
    wake: (deliveries) => dispatcher.wake(deliveries),
    backlog: (conversation) => dispatcher.backlog(keyOfConversation(conversation)),
    closePrompt,
    shutOut: (owner) => messageAdmin.dropAllOf(owner),
    reconfigure(next) {
      settings = next;
      const sent = dispatcher.reconfigure(next);
      inbox.reconfigure();
      return sent;
    },
    async stop(graceMs) {
      agent.drain();
      closing.stop();
      await Promise.all([inbox.stop(graceMs), dispatcher.stop(Math.min(graceMs, LAST_SENDS_MS))]);
    },
    messageAdmin,
    failureOf: (messageId) => failures.get(messageId),
    speech,
    channelSend: {
      store,
      identity: options.identity,
      targetsOf: (channel) => settings.targetsOf(channel),
      redact,
      dispatcher,
      now: () => clock.now(),
      get channels() {
        return settings.channels;
      },
    },
  };
}

/** Ids of the turns of messages that were withdrawn before they were answered. Inside a transaction. */
function dropWithdrawn({ inbox }: Store, channel: string, ids: readonly string[]): string[] {
  for (const id of ids) inbox.endLocked(channel, id, "dropped");
  return inbox
    .waiting()
    .filter((waiting) => waiting.channel === channel && waiting.kind === "message")
    .flatMap(({ n }) => inbox.read(n) ?? [])
    .filter(({ body }) => ids.includes(String(fieldsOf(body)["id"])))
    .flatMap(({ n, turnId }) => (inbox.end(n, "dropped") ? [turnId] : []));
}

/** The database stores only their codes; these are for a person who waits for a message that was just sent. */
const MOST_FAILURES = 100;

/** A platform that answers at all does so sooner; an aborted send is on disk, and repeated by the next start. */
const LAST_SENDS_MS = 5_000;

const unpredictable = (): number => randomInt(2 ** 32) / 2 ** 32;

/** Takes the buttons off questions that are settled: best effort, one after the other in each channel. */
interface ClosePromptsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly channelOf: (id: string) => Channel | undefined;
}

const LIMIT_MS = 30_000;
/** Of one channel; a platform that hangs keeps each of them in memory. */
const MAX_WAITING = 1_000;

export class ClosingPrompts {
  readonly #deps: ClosePromptsDeps;
  /** By channel. */
  readonly #queue = new KeyedQueue<string>();
  readonly #stopping = new AbortController();

  constructor(deps: ClosePromptsDeps) {
    this.#deps = deps;
  }

  add(posted: PostedPrompt, outcome: string): void {
    const { channel } = posted.conversation;
    if (this.#queue.count(channel) >= MAX_WAITING || this.#stopping.signal.aborted) return;
    void this.#queue.run(channel, () => this.#close(posted, outcome));
  }

  /** What is not done by now is not done. */
  stop(): void {
    this.#stopping.abort(new SvcError("TURN_CANCELLED"));
  }

  /** Never rejects. */
  async #close(posted: PostedPrompt, outcome: string): Promise<void> {
    const { clock, log, channelOf } = this.#deps;
    const { channel } = posted.conversation;
    const { signal } = this.#stopping;
    const error = (): SvcError => new SvcError("REMOTE_TIMEOUT");
    const close = (given: AbortSignal) => channelOf(channel)?.prompts?.close?.(posted, outcome, given);
    try {
      await withTimeout({ clock, timeoutMs: LIMIT_MS, signal, error }, close);
    } catch (error) {
      // Its name only: its words may be the platform's.
      const reason = error instanceof SvcError ? error.code : error instanceof Error ? error.name : typeof error;
      if (!this.#stopping.signal.aborted)
        log.warn("the buttons of a question could not be taken off", { channel, reason });
    }
  }
}
