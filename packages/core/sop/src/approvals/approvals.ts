/** The registry of what waits for a person's yes: durable, answered once, and told to everybody who was asked. */
import { type Conversation, type Inbound, SvcError } from "@svc/contract";
import type { Approval, ApprovalAnswer, ApprovalHold, ApprovalStatus, Delivery, NewDelivery } from "@svc/store";
import { Announced, Requester } from "./requester.ts";
import type { Answer, ApprovalKey, ApprovalOptions, Approvals, Pending } from "./types.ts";
import { expired, outcomeText, refusalOf, resolvedEvent } from "./prompt-text.ts";
import { cut, oneLine, wellFormed } from "./plain-text.ts";
import { type Reading, readReply } from "./reply-reading.ts";
import { inScope } from "@svc/runtime";
import { keyOfConversation } from "@svc/kit";

/** What the parts of this package ask of it beside. */
export interface ApprovalRegistry extends Approvals {
  /** Id of the event that told of it. Called after the commit. */
  eventIdOf(approval: Approval): string;
  /** Its time is over before `expiresAtMs`. Resolves once that is on disk; also where it waits no longer. */
  expire(key: ApprovalKey): Promise<void>;
}

export function createApprovals(options: ApprovalOptions): ApprovalRegistry {
  const { store, clock } = options;
  const announced = new Announced(options);
  const waiters = new Waiters();
  const settler = new Settler(options, announced, waiters);
  const expiry = new Expiry(options, settler);
  const requester = new Requester(options, announced, () => expiry.look());
  const replies = new Replies(options, settler);
  const find = ({ runId, stepId }: ApprovalKey): Approval | undefined => store.approvals.byKey(runId, stepId);

  /** What it returns as an error has changed nothing. */
  const answerIn = (key: ApprovalKey, { approved, by, via, feedback, holds }: Answer): Pending<Approval> | SvcError => {
    const approval = find(key);
    if (!approval) return unknown();
    if (approval.status !== "waiting") return refusalOf(approval);
    if (approval.expiresAtMs <= clock.now()) return expired(approval.expiresAtMs);
    const refusal = approved ? refusalToHold(approval, holds, options.keepRule !== undefined) : undefined;
    if (refusal) return refusal;
    const end = { by, via, feedback, ...(holds !== undefined && holds !== "once" && { holds }) };
    return settler.settleIn(approval.n, { status: approved ? "approved" : "rejected", ...end })!;
  };

  return {
    async request(request) {
      const checked = requester.check(request);
      return commit(await store.write(() => requester.requestIn(checked)));
    },
    requestIn: (request) => orThrow(requester.requestIn(requester.check(request))),
    async resolve(key, answer) {
      const answered = commit(await store.write(() => answerIn(key, answer)));
      if (answered.answer?.holds === "always") await options.keepRule?.(answered.offers!.always!.rule, answered);
      return answered;
    },
    resolveIn: (key, answer) => orThrow(answerIn(key, answer)),
    cancelIn(key, why) {
      const approval = find(key);
      return approval && settler.settleIn(approval.n, { status: "cancelled", by: why, via: "service" });
    },
    async settled(key, signal) {
      const approval = find(key);
      if (!approval) throw unknown();
      return approval.status === "waiting" ? waiters.wait(approval.n, signal) : approval;
    },
    get: find,
    list(filter, limit) {
      const approvals = store.approvals.list(filter, limit + 1);
      const isMore = approvals.length > limit;
      const page = isMore ? approvals.slice(0, limit) : approvals;
      return { approvals: page, next: isMore ? page.at(-1)?.n : undefined };
    },
    replies: {
      takes: (inbound, receivedAtMs) => replies.takes(inbound, receivedAtMs),
      take: (inbound, receivedAtMs) => replies.take(inbound, receivedAtMs),
    },
    eventIdOf: (approval) => announced.tell(approval),
    async expire(key) {
      const pending = await store.write(() => {
        const approval = find(key);
        return approval && expiry.expireIn(approval);
      });
      pending?.committed();
    },
    start: () => expiry.start(),
    stop: () => expiry.stop(),
  };
}

/** A yes may hold no longer than it was offered to: the person has seen for what. */
function refusalToHold(
  { offers }: Approval,
  holds: ApprovalHold = "once",
  canKeepRules: boolean,
): SvcError | undefined {
  if (holds === "once" || (offers?.[holds] !== undefined && (holds !== "always" || canKeepRules))) return undefined;
  const reason = offers?.reason ?? "Only a tool call can be allowed for longer.";
  return new SvcError("BAD_REQUEST", `This can be allowed once only. ${reason}`, {
    hint: "Approve it without `holds`.",
  });
}

const unknown = (): SvcError => new SvcError("APPROVAL_UNKNOWN", undefined, { hint: "See: svc approvals list" });

/** An error that was made inside of a transaction, but not thrown there: it would undo what others do in it. */
function commit<Result>(pending: Pending<Result> | SvcError): Result {
  const { result, committed } = orThrow(pending);
  committed();
  return result;
}

function orThrow<Result>(pending: Pending<Result> | SvcError): Pending<Result> {
  if (pending instanceof SvcError) throw pending;
  return pending;
}

/** Messages of channels that answer an approval instead of going to the agent. */
type Taken = ReturnType<Approvals["replies"]["take"]>;

class Replies {
  readonly #options: ApprovalOptions;
  readonly #settler: Settler;

  constructor(options: ApprovalOptions, settler: Settler) {
    this.#options = options;
    this.#settler = settler;
  }

  takes(inbound: Inbound, receivedAtMs: number): boolean {
    return this.#read(inbound, receivedAtMs) !== undefined;
  }

  /** Inside a transaction. */
  take(inbound: Inbound, receivedAtMs: number): Taken {
    const reading = this.#read(inbound, receivedAtMs);
    if (!reading) return undefined;
    return reading.kind === "told" ? replyWith(reading.text) : this.#answer(inbound, reading);
  }

  #read(inbound: Inbound, receivedAtMs: number): Reading | undefined {
    const { store, settings, clock } = this.#options;
    const nowMs = clock.now();
    const postOf = (delivery: number) => store.outbox.read(delivery);
    return readReply({ approvals: store.approvals, postOf, settings, nowMs, receivedAtMs }, inbound);
  }

  #answer(inbound: Inbound, { approval, approved, feedback }: Extract<Reading, { kind: "answer" }>): Taken {
    const { clock, settings } = this.#options;
    if (approval.expiresAtMs <= clock.now()) return replyWith(expired(approval.expiresAtMs).message);
    const { conversation } = inbound;
    const status = approved ? "approved" : "rejected";
    const end = { status, by: nameOf(inbound), via: "chat", feedback, at: conversation } as const;
    const pending = this.#settler.settleIn(approval.n, end);
    if (!pending) return undefined;
    const text = outcomeText(pending.result, settings(conversation.channel).maxChars);
    return { text, committed: () => pending.committed() };
  }
}

const replyWith = (text: string): Taken => ({ text, committed: () => undefined });

/** The name is the sender's own choice; the id is not. */
function nameOf({ sender, senderName, conversation }: Inbound): string {
  const name = cut(oneLine(senderName ?? ""), 60);
  const who = name === "" || name === sender ? sender : `${name} (${sender})`;
  return `${who} on ${conversation.channel}`;
}

// Nobody has to answer, and nothing waits for ever: when its time is over, it is over, and somebody should know.

/** The wall clock may be set while a timer runs. */
const LOOK_AGAIN_MS = 30_000;
/** Ended in one go. */
const STEP = 50;

class Expiry {
  readonly #options: Pick<ApprovalOptions, "store" | "clock" | "log">;
  readonly #settler: Settler;
  #isRunning = false;
  #isSweeping = false;
  #cancel: (() => void) | undefined;

  constructor(options: Pick<ApprovalOptions, "store" | "clock" | "log">, settler: Settler) {
    this.#options = options;
    this.#settler = settler;
  }

  start(): void {
    this.#isRunning = true;
    this.look();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancel?.();
  }

  /** There is a new one, or the clock says something else. */
  look(): void {
    if (!this.#isRunning || this.#isSweeping) return;
    const { store, clock } = this.#options;
    this.#cancel?.();
    const nextMs = store.approvals.nextExpiryMs();
    if (nextMs === Infinity) return;
    // Whoever asked last has made the timer; it is for all of them.
    const sweep = (): void => void inScope({}, () => this.#sweep());
    this.#cancel = clock.after(Math.min(Math.max(0, nextMs - clock.now()), LOOK_AGAIN_MS), sweep);
  }

  /** Inside a transaction. Undefined: it waits no longer. */
  expireIn({ n, origin, runId, stepId }: Approval): Pending<Approval> | undefined {
    const pending = this.#settler.settleIn(n, { status: "expired", by: "no answer in time", via: "service" });
    if (!pending) return undefined;
    const logExpiry = (): void =>
      this.#options.log.warn("approval request expired", { approval: n, origin, runId, stepId });
    return {
      result: pending.result,
      committed: () => {
        pending.committed();
        logExpiry();
      },
    };
  }

  /** Never rejects: what the disk refused is tried again. */
  async #sweep(): Promise<void> {
    const { clock, log } = this.#options;
    this.#isSweeping = true;
    const failure = await this.#endDue().catch(String);
    this.#isSweeping = false;
    if (failure === undefined) return this.look();
    log.error("the end of an approval request can't be kept yet", { error: failure });
    if (this.#isRunning) this.#cancel = clock.after(LOOK_AGAIN_MS, () => void this.#sweep());
  }

  /** Each on its own, so that one that can't be ended does not keep the others. Resolves with why one was not. */
  async #endDue(): Promise<string | undefined> {
    const { store, clock } = this.#options;
    const ended = await Promise.allSettled(
      store.approvals.due(clock.now(), STEP).map(async (approval) => {
        const pending = await store.write(() => this.expireIn(approval));
        pending?.committed();
      }),
    );
    const failed = ended.find((end) => end.status === "rejected");
    return failed && String(failed.reason);
  }
}

/** The end of an approval: in one transaction with what those who were asked are told. */
interface End extends Pick<ApprovalAnswer, "by" | "via" | "holds"> {
  readonly status: Exclude<ApprovalStatus, "waiting">;
  readonly feedback?: string | undefined;
  /** Where it was answered: whoever is there has the answer to his answer. */
  readonly at?: Conversation;
}

const MAX = { by: 200, feedback: 4_096 } as const;

class Settler {
  readonly #options: ApprovalOptions;
  readonly #announced: Announced;
  readonly #waiters: Waiters;

  constructor(options: ApprovalOptions, announced: Announced, waiters: Waiters) {
    this.#options = options;
    this.#announced = announced;
    this.#waiters = waiters;
  }

  /** Inside a transaction. Undefined: it waits no longer. */
  settleIn(n: number, { status, by, via, feedback, at, holds }: End): Pending<Approval> | undefined {
    const { store, clock, redact, onSettled, publish, wake } = this.#options;
    const said = feedback === undefined ? "" : cut(wellFormed(redact(feedback)).trim(), MAX.feedback);
    const answer = { by: cut(oneLine(redact(by)), MAX.by), via, feedback: said || undefined, atMs: clock.now() };
    const held = { ...answer, holds: status === "approved" ? holds : undefined };
    if (!store.approvals.settle(n, status, held)) return undefined;
    const result = store.approvals.read(n)!;
    const granted = held.holds === "conversation" ? result.offers?.conversation : undefined;
    if (granted) {
      const { place, key, text } = granted;
      store.grants.add({ ...place, key, text, approval: n, atMs: answer.atMs });
    }
    const deliveries = this.#tellIn(result, at);
    const goOn = onSettled?.(result);
    return {
      result,
      committed: () => {
        this.#announced.tell(result);
        publish(resolvedEvent(result));
        this.#waiters.wake(result);
        goOn?.();
        wake(deliveries);
      },
    };
  }

  #tellIn(approval: Approval, at: Conversation | undefined): Delivery[] {
    const { store, clock } = this.#options;
    const isThere = (place: Conversation | undefined): boolean =>
      at !== undefined && place !== undefined && keyOfConversation(place) === keyOfConversation(at);
    const places = approval.prompts
      .filter(({ conversation, opened }) => !isThere(conversation) && !isThere(opened))
      .map(({ conversation, opened }) => opened ?? conversation);
    return store.outbox.add(
      places.map((place) => this.#outcome(approval, place)),
      clock.now(),
    );
  }

  #outcome(approval: Approval, conversation: Conversation): NewDelivery {
    const { settings } = this.#options;
    const conversationKey = keyOfConversation(conversation);
    const text = outcomeText(approval, settings(conversation.channel).maxChars);
    return { conversation, conversationKey, text, files: [], key: `approval-end:${approval.n}:${conversationKey}` };
  }
}

/** Who waits in this process for the end of an approval. */
class Waiters {
  readonly #waiting = new Map<number, Set<(approval: Approval) => void>>();

  /** Resolves with the end of it. Rejects with the signal's reason. */
  async wait(n: number, signal: AbortSignal): Promise<Approval> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Approval>();
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const waiting = this.#waiting.get(n) ?? new Set();
    this.#waiting.set(n, waiting.add(resolve));
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", abort);
      waiting.delete(resolve);
      if (waiting.size === 0) this.#waiting.delete(n);
    }
  }

  wake(approval: Approval): void {
    for (const resolve of this.#waiting.get(approval.n) ?? []) resolve(approval);
  }
}
