/** An answer that people see while it is written, as far as its channel can show that (`Channel.drafts`). */
import {
  type Channel,
  type Clock,
  DEFAULT_MAX_CHARS,
  type Drafts,
  type Inbound,
  type Logger,
  type SentMessage,
  SvcError,
} from "@svc/contract";
import { retryDelayMs, withTimeout } from "@svc/kit/async";
import type { InboxMessage, NewDelivery, Store } from "@svc/store";
import type { Attempt } from "./attempt.ts";
import { type AnswerTarget, answerRows, inPlaceOf, isMarkerBegun, linesOf } from "./outgoing-rows.ts";
import type { TurnWatcher } from "@svc/agent";
import type { OutboxDispatcher } from "./outbox.ts";

export interface Streaming extends TurnWatcher {
  /** The platform's id of the draft that an answer, or an apology, replaces. */
  readonly draft: string | undefined;
  /** The answer is whole, and no longer shown while it is written. What is still to be sent of it. */
  rows(response: string): Promise<readonly NewDelivery[]>;
  /** There is no answer. Resolves when what is under way has ended, or was aborted. Never rejects. */
  end(): Promise<void>;
}

export interface StreamingDeps {
  readonly store: Pick<Store, "inbox" | "outbox" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly dispatcher: Pick<OutboxDispatcher, "wake" | "isIdle">;
  readonly drafts: DraftIds;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random: () => number;
}

/** Read each time, since a reload may change it while the answer is written. */
export type TargetSource = () => AnswerTarget;

/** The platforms' ids of drafts. A restart must find them, or the answer would be there twice. */
export class DraftIds {
  readonly #store: Pick<Store, "inbox" | "write">;
  /** By message: ids that the disk has not taken yet. A later attempt in this process uses them all the same. */
  readonly #unstored = new Map<number, string>();

  constructor(store: Pick<Store, "inbox" | "write">) {
    this.#store = store;
  }

  of({ n, draft }: Pick<InboxMessage, "n" | "draft">): string | undefined {
    return this.#unstored.get(n) ?? draft;
  }

  /** Whether the disk took it. */
  async keep(n: number, platformId: string): Promise<boolean> {
    this.#unstored.set(n, platformId);
    try {
      await this.#store.write(() => this.#store.inbox.drafted(n, platformId));
    } catch {
      return false;
    }
    this.#unstored.delete(n);
    return true;
  }

  /** The message has ended. */
  forget(n: number): void {
    this.#unstored.delete(n);
  }
}

export interface DraftTarget {
  readonly channel: Channel;
  readonly drafts: Drafts;
  readonly target: TargetSource;
}

/** An edit that takes longer is aborted. */
const LIMIT_MS = 30_000;
/** At the end of the turn, whose answer waits for it: it must not come after the answer. */
const LAST_MS = 5_000;
/** The same while the service stops. */
const STOPPING_MS = 1_000;

/**
 * An answer that is posted at its beginning, and edited as it grows. Its end goes out by the outbox, as every answer does, and
 * takes the place of what is there. So nothing here has to succeed: a failure is logged, and the next edit says more.
 */
export class Draft implements Streaming {
  readonly #deps: StreamingDeps;
  readonly #attempt: Attempt;
  readonly #of: DraftTarget;
  readonly #inbound: Inbound;
  readonly #delays: DraftDelays;
  #written = "";
  /** What comes next begins the text anew; until then the old one stands. */
  #isAnew = false;
  #id: string | undefined;
  #isKept: boolean;
  #shown = "";
  /** Neither is anything being shown, nor will it be before more is written. */
  #isIdle = true;
  #isOver = false;
  #cancelDelay: () => void = () => {};
  #showing: Promise<void> | undefined;
  #callOff = new AbortController();

  constructor(deps: StreamingDeps, attempt: Attempt, of: DraftTarget) {
    this.#deps = deps;
    this.#attempt = attempt;
    this.#of = of;
    this.#inbound = attempt.inbound;
    this.#delays = new DraftDelays(() => of.drafts.intervalMs(this.#inbound.conversation), deps.random);
    this.#id = deps.drafts.of(attempt.message);
    this.#isKept = this.#id !== undefined && this.#id === attempt.message.draft;
  }

  get draft(): string | undefined {
    return this.#id;
  }

  begin(): void {
    this.#isAnew = true;
  }

  push(text: string): void {
    if (this.#isAnew) this.#written = "";
    this.#isAnew = false;
    this.#written += text;
    if (this.#isIdle && !this.#isOver) this.#delay(this.#delays.intervalMs);
  }

  /** What the next step says stands in the same place. */
  async pause(): Promise<void> {}

  async rows(response: string): Promise<readonly NewDelivery[]> {
    await this.end();
    const rows = await answerRows(this.#of.target(), this.#inbound, this.#attempt.message.turnId, response);
    return inPlaceOf(this.#id, rows);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    this.#cancelDelay();
    if (!this.#showing) return;
    const { signal } = this.#attempt;
    const callOff = (): void => this.#callOff.abort(new SvcError("TURN_CANCELLED"));
    const cancel = this.#deps.clock.after(signal.aborted ? STOPPING_MS : LAST_MS, callOff);
    signal.addEventListener("abort", callOff, { once: true });
    await this.#showing;
    signal.removeEventListener("abort", callOff);
    cancel();
  }

  #delay(ms: number): void {
    this.#isIdle = false;
    this.#cancelDelay = this.#deps.clock.after(ms, () => this.#show());
  }

  #show(): void {
    const text = draftText(this.#written, this.#of.channel.text?.maxChars ?? DEFAULT_MAX_CHARS);
    if (text === "" || text === this.#shown) return void (this.#isIdle = true);
    // Its place is behind what is still on its way there.
    const isBehind = this.#id === undefined && !this.#deps.dispatcher.isIdle(this.#attempt.message.conversationKey);
    if (isBehind) return this.#delay(this.#delays.intervalMs);
    this.#showing = this.#tell(text).then((delayMs) => {
      this.#showing = undefined;
      if (delayMs === undefined) this.#isOver = true;
      if (!this.#isOver) this.#delay(delayMs!);
    });
  }

  /** Resolves with the delay before the next edit; undefined: nothing more can be shown. Never rejects. */
  async #tell(text: string): Promise<number | undefined> {
    const { clock } = this.#deps;
    const { signal } = (this.#callOff = new AbortController());
    const error = (): SvcError => new SvcError("REMOTE_TIMEOUT");
    try {
      await withTimeout({ clock, timeoutMs: LIMIT_MS, signal, error }, (given) => this.#sendOrEdit(text, given));
    } catch (error) {
      if (this.#isOver) return undefined;
      if (this.#delays.isFirstFailure) this.#note(error);
      return this.#delays.afterFailure(error, this.#id !== undefined);
    }
    this.#shown = text;
    return this.#id === undefined ? undefined : this.#delays.afterSuccess();
  }

  async #sendOrEdit(text: string, signal: AbortSignal): Promise<void> {
    const { channel, drafts } = this.#of;
    const { conversation, replyData } = this.#inbound;
    const there = { conversation, ...(replyData !== undefined && { replyData }) };
    if (this.#id !== undefined) {
      const sent: SentMessage = { ...there, platformId: this.#id };
      await drafts.edit(sent, text, signal);
    } else {
      const deliveryId = `draft-${this.#attempt.message.turnId}`;
      const { platformId } = await channel.send({ ...there, text, deliveryId }, signal);
      this.#id = platformId;
    }
    await this.#keepId();
  }

  /** Also of a draft that the platform took after the time was over: the answer takes its place. */
  async #keepId(): Promise<void> {
    if (this.#isKept || this.#id === undefined) return;
    this.#isKept = await this.#deps.drafts.keep(this.#attempt.message.n, this.#id);
  }

  /** Only the error's name: its message may be the platform's words. */
  #note(error: unknown): void {
    const reason = error instanceof SvcError ? error.code : error instanceof Error ? error.name : typeof error;
    const { channel } = this.#inbound.conversation;
    this.#deps.log.warn("an answer can't be shown while it is written", { channel, reason });
  }
}

/** Whatever a channel says, a platform is not called more often. */
const SHORTEST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 60_000;

/**
 * The delay between two edits: as the channel says, and the kit's back-off after a failure. The interval stays the least then, since the
 * platform counts failed edits too.
 */
class DraftDelays {
  readonly #intervalMs: () => number;
  readonly #random: () => number;
  #failures = 0;
  #hasFailed = false;

  constructor(intervalMs: () => number, random: () => number) {
    this.#intervalMs = intervalMs;
    this.#random = random;
  }

  get intervalMs(): number {
    return Math.max(SHORTEST_DELAY_MS, this.#intervalMs());
  }

  /** None has failed before. One line in the log is enough for one answer. */
  get isFirstFailure(): boolean {
    return !this.#hasFailed;
  }

  afterSuccess(): number {
    this.#failures = 0;
    return this.intervalMs;
  }

  /** Undefined: it is not tried again. `isEdit`: to try it again can't make a second message of it. */
  afterFailure(error: unknown, isEdit: boolean): number | undefined {
    this.#hasFailed = true;
    this.#failures += 1;
    const { code, retryAfterMs = 0 } = error instanceof SvcError ? error : {};
    const askedMs = Number.isFinite(retryAfterMs) ? retryAfterMs : 0;
    if (code === "DELIVERY_REFUSED") return undefined;
    // A platform that says when to retry has not taken it. After any other failure that is unknown.
    if (!isEdit && askedMs === 0) return undefined;
    const { intervalMs } = this;
    const backoff = { firstMs: 2 * intervalMs, longestMs: LONGEST_DELAY_MS };
    return Math.max(intervalMs, retryDelayMs(this.#failures, backoff, { askedMs, random: this.#random }));
  }
}

const CUT = " …";

/** Without the lines that name files, which become files in the end. Blank: there is nothing to show yet. */
export function draftText(written: string, maxChars: number): string {
  const shown = (written.includes("[") ? withoutMarkers(written) : written).trim();
  if (shown.length <= maxChars) return shown;
  const room = maxChars - CUT.length;
  const isInPair = /[\uD800-\uDBFF]/.test(shown.charAt(room - 1));
  return `${shown.slice(0, isInPair ? room - 1 : room).trimEnd()}${CUT}`;
}

function withoutMarkers(written: string): string {
  const lines = linesOf(written);
  const last = lines.pop()!;
  const shown = lines.filter(({ names }) => names === undefined).map(({ line }) => line);
  if (last.names === undefined && (last.isCode || !isMarkerBegun(last.line))) shown.push(last.line);
  return shown.join("\n");
}
