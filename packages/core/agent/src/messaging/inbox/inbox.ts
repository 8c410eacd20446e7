/** What came in, from the moment it is on disk to its end. */
import { type Channel, type Inbound, SvcError } from "@svc/contract";
import { inScope, Ongoing, type Scope } from "@svc/kernel";
import type { Arrival, Arrived, KeptMessage, NewMessage, WaitingMessage } from "@svc/store";
import type { Alongside } from "../types.ts";
import { DraftIds } from "../writing/draft-ids.ts";
import { Admission } from "./admission.ts";
import { answer } from "./answer.ts";
import { Attempt } from "./attempt.ts";
import type { Attempted, LaneOptions, Leave } from "./lane-options.ts";
import { InboxLanes } from "./lanes.ts";
import { passOver, tellLost } from "./no-attempt.ts";
import { handOver } from "./notice.ts";
import { Overtaking } from "./overtaking.ts";
import { incomingId } from "../message-id.ts";
import type { InboxOwned, InboxParts } from "./parts.ts";
import { Presence } from "./presence.ts";
import { type ByHand, replyByHand, type SaidByHand } from "./reply-by-hand.ts";
import { isReply, takeReply } from "./take-reply.ts";
import { scopeOf, Waits } from "./waits.ts";

/** Notices are no turns; what they do is the channel's business. */
const PARALLEL_NOTICES = 8;
/** What the disk refused is tried again. */
const REFUSED_REST_MS = 1_000;
/** What can't even be read is a matter for a person. */
const BROKEN_REST_MS = 60_000;
/** Channels give up locked messages themselves, and sooner; this is for those of a channel that is gone. */
const LOCKED_LASTS_MS = 2 * 86_400_000;
/** After a shutdown's patience is over: what was called off gets so long to note it. */
const LAST_WORDS_MS = 2_000;

export class Inbox {
  readonly #parts: InboxParts;
  readonly #turns: InboxLanes;
  readonly #notices: InboxLanes;
  readonly #attempts = new Map<number, Attempt>();
  readonly #ongoing = new Ongoing();
  readonly #admission: Admission;
  readonly #overtaking: Overtaking;
  /** What was on disk at the start is known up to here; undefined: not started. */
  #known: number | undefined;
  readonly #stopping = new AbortController();

  constructor(parts: Omit<InboxParts, InboxOwned>) {
    const { clock, log, instruments } = parts;
    const stopping = this.#stopping.signal;
    const presence = new Presence({ clock, log, stopping });
    const drafts = new DraftIds(parts.store);
    const waits = new Waits(instruments);
    const waitingBehind = (lane: string): number => this.#turns.sizeOf(lane) - 1;
    this.#parts = { ...parts, stopping, presence, drafts, waits, waitingBehind };
    const options: Omit<LaneOptions, "maxParallel"> = {
      clock,
      attempt: (waiting, leave) => this.#ongoing.during(() => this.#attempt(waiting, leave)),
      canBegin: (channel) => this.#canBegin(channel),
    };
    this.#turns = new InboxLanes({ ...options, maxParallel: parts.settings().maxParallelTurns });
    this.#notices = new InboxLanes({ ...options, maxParallel: PARALLEL_NOTICES });
    const takes = (inbound: Inbound): boolean => parts.replies?.takes(inbound, clock.now()) ?? false;
    this.#admission = new Admission([this.#turns, this.#notices], takes);
    const around = { lanes: this.#turns, attempts: this.#attempts };
    this.#overtaking = new Overtaking(this.#parts, around, (work) => this.#background(work));
  }

  /** Rejects with BUSY, STORE_*: then nothing is kept. */
  async accept(arrival: Arrival, alongside?: Alongside): Promise<Arrived> {
    const { store, clock } = this.#parts;
    const { messages } = arrival;
    this.#admission.enter(messages);
    try {
      const { arrived, committed } = await store.write(() => {
        const arrived = store.inbox.arrive(arrival, clock.now());
        return { arrived, committed: alongside?.(arrival, arrived) };
      });
      if (arrived.state === "kept") {
        for (const [at, kept] of arrived.messages.entries()) {
          if (kept !== "duplicate") this.#arrived(arrival.channel, messages[at]!, kept);
        }
      }
      committed?.();
      return arrived;
    } finally {
      this.#admission.leave(messages);
    }
  }

  #arrived(channel: string, { kind, lane, body, unlocks }: NewMessage, { n, turnId }: KeptMessage): void {
    if (kind === "reaction" || kind === "locked") return;
    const inbound = body as unknown as Inbound;
    if (kind === "message") {
      const { conversation, sender } = inbound;
      this.#parts.publish({ type: "message-received", messageId: incomingId(n), conversation, sender, turnId });
    }
    // A start that comes after the commit finds it on disk; one that was locked then it has passed over.
    if (this.#known === undefined || (n <= this.#known && !unlocks)) return;
    const waiting = { n, channel, kind, lane };
    if (kind === "message") this.#overtaking.arrived(waiting, inbound);
    else this.#notices.add(waiting);
  }

  /** Takes up what the last process left, in the order of arrival, and goes on with what comes. */
  start(): void {
    const { store } = this.#parts;
    const waiting = store.inbox.waiting();
    this.#known = waiting.at(-1)?.n ?? 0;
    for (const message of waiting) this.#lanesOf(message.kind).add(message);
    for (const message of store.inbox.lost()) {
      this.#background(() => inScope(scopeOf(message), () => tellLost(this.#parts, this.#turns, message)));
    }
    this.#background(() => this.#overtaking.find());
    this.#background(async () => {
      await store.write(() => store.inbox.endForgotten(this.#parts.clock.now() - LOCKED_LASTS_MS));
    });
    this.#turns.start();
    this.#notices.start();
  }

  /** What runs goes on as it began. What rests is tried at once: another model may be what it waits for. */
  reconfigure(): void {
    this.#turns.endRests(() => true);
    this.#turns.resize(this.#parts.settings().maxParallelTurns);
    this.#notices.resize(PARALLEL_NOTICES);
  }

  /** See `replyByHand`. */
  replyByHand(reply: ByHand): Promise<SaidByHand> {
    return replyByHand(this.#parts, { lanes: this.#turns, attempts: this.#attempts }, reply);
  }

  /** One that was replayed. */
  wake(message: WaitingMessage): void {
    if (this.#known !== undefined) this.#lanesOf(message.kind).add(message);
  }

  /** The message of this turn was dropped. */
  stopTurn(turnId: string): void {
    for (const attempt of this.#attempts.values()) if (attempt.message.turnId === turnId) attempt.callOff("drop");
    // One that rests has those behind it rest too.
    const isIt = ({ n }: WaitingMessage): boolean => this.#parts.store.inbox.read(n)?.turnId === turnId;
    for (const lanes of [this.#turns, this.#notices]) lanes.endRests(isIt);
  }

  /** Begins nothing more. What runs has `graceMs` to end, is called off then, and goes on in the next process. */
  async stop(graceMs: number): Promise<void> {
    this.#turns.stop();
    this.#notices.stop();
    const { clock } = this.#parts;
    const idle = this.#ongoing.idle();
    const callOff = (): void => {
      for (const attempt of this.#attempts.values()) attempt.callOff("shutdown");
      this.#stopping.abort(new SvcError("TURN_CANCELLED"));
    };
    const late = Promise.withResolvers<void>();
    const cancels = [clock.after(graceMs, callOff), clock.after(graceMs + LAST_WORDS_MS, late.resolve)];
    await Promise.race([idle, late.promise]);
    for (const cancel of cancels) cancel();
    callOff();
    this.#parts.waits.stop();
  }

  #lanesOf(kind: WaitingMessage["kind"]): InboxLanes {
    return kind === "notice" ? this.#notices : this.#turns;
  }

  /** No turn begins whose end could not be kept. */
  #canBegin(channel: string): boolean {
    const { store, settings } = this.#parts;
    const { channels, isUp } = settings();
    return channels.has(channel) && isUp(channel) && store.writable();
  }

  async #attempt({ n }: WaitingMessage, leave: Leave): Promise<Attempted> {
    const { store, log, settings } = this.#parts;
    let scope: Scope = {};
    try {
      const message = store.inbox.read(n);
      if (message?.state !== "waiting") return await passOver(this.#parts, message);
      const channel = settings().channels.get(message.channel);
      if (!channel) return { restMs: REFUSED_REST_MS };
      scope = scopeOf(message);
      return await inScope(scope, () => this.#attemptAt(new Attempt(message, leave), channel));
    } catch (error) {
      if (this.#stopping.signal.aborted) return "over";
      const code = error instanceof SvcError ? error.code : "INTERNAL";
      const fields = { messageId: incomingId(n), code, error: String(error) };
      inScope(scope, () => log.error("a message waits, for something unexpected went wrong", fields));
      return { restMs: code.startsWith("STORE_") ? REFUSED_REST_MS : BROKEN_REST_MS };
    } finally {
      this.#attempts.delete(n);
    }
  }

  async #attemptAt(attempt: Attempt, channel: Channel): Promise<Attempted> {
    const { store, waits } = this.#parts;
    const { message } = attempt;
    const { n, kind } = message;
    this.#attempts.set(n, attempt);
    if (isReply(this.#parts, message) && (await takeReply(this.#parts, n))) return "over";
    const scope = kind === "notice" ? scopeOf(message) : waits.begin(message);
    // Not waited for: a process that dies before it is on disk has not come far.
    store.write(() => store.inbox.begin(n, scope.traceparent)).catch(() => undefined);
    return inScope(scope, () => (kind === "notice" ? handOver : answer)(this.#parts, attempt, channel));
  }

  #background(work: () => Promise<void>): void {
    this.#ongoing.during(work).catch((error: unknown) => {
      if (this.#stopping.signal.aborted) return;
      this.#parts.log.error("a part of the inbox failed unexpectedly", { error: String(error) });
    });
  }
}
