/**
 * An answer that is posted at its beginning, and edited as it grows. Its end goes out by the outbox, as every answer does, and
 * takes the place of what is there. So nothing here has to succeed: what fails is noted, and the next edit says more.
 */
import { type Channel, DEFAULT_MAX_CHARS, type Drafts, type Inbound, type SentMessage, SvcError } from "@svc/contract";
import type { NewDelivery } from "@svc/store";
import { answerRows } from "../inbox/answer-rows.ts";
import type { Attempt } from "../inbox/attempt.ts";
import type { InboxParts } from "../inbox/parts.ts";
import { within } from "../within.ts";
import { draftText } from "./draft-text.ts";
import { inPlaceOf } from "./in-place-of.ts";
import { DraftRests } from "./draft-rests.ts";
import type { AnswerSource, Writing } from "./writing.ts";

export interface DraftParts {
  readonly channel: Channel;
  readonly drafts: Drafts;
  readonly source: AnswerSource;
}

/** An edit that takes longer is called off. */
const LIMIT_MS = 30_000;
/** At the end of the turn, whose answer waits for it: it must not come after the answer. */
const LAST_MS = 5_000;
/** The same while the service stops. */
const STOPPING_MS = 1_000;

export class Draft implements Writing {
  readonly #parts: InboxParts;
  readonly #attempt: Attempt;
  readonly #of: DraftParts;
  readonly #inbound: Inbound;
  readonly #rests: DraftRests;
  #written = "";
  /** What comes next begins the text anew; until then the old one stands. */
  #isAnew = false;
  #id: string | undefined;
  #isKept: boolean;
  #shown = "";
  /** Neither is anything being shown, nor will it be before more is written. */
  #isIdle = true;
  #isOver = false;
  #cancelRest: () => void = () => {};
  #showing: Promise<void> | undefined;
  #callOff = new AbortController();

  constructor(parts: InboxParts, attempt: Attempt, of: DraftParts) {
    this.#parts = parts;
    this.#attempt = attempt;
    this.#of = of;
    this.#inbound = attempt.inbound;
    this.#rests = new DraftRests(() => of.drafts.intervalMs(this.#inbound.conversation));
    this.#id = parts.drafts.of(attempt.message);
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
    if (this.#isIdle && !this.#isOver) this.#rest(this.#rests.intervalMs);
  }

  /** What the next step says stands in the same place. */
  async pause(): Promise<void> {}

  async rows(response: string): Promise<readonly NewDelivery[]> {
    await this.end();
    const rows = await answerRows(this.#of.source(), this.#inbound, this.#attempt.message.turnId, response);
    return inPlaceOf(this.#id, rows);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    this.#cancelRest();
    if (!this.#showing) return;
    const { signal } = this.#attempt;
    const callOff = (): void => this.#callOff.abort(new SvcError("TURN_CANCELLED"));
    const cancel = this.#parts.clock.after(signal.aborted ? STOPPING_MS : LAST_MS, callOff);
    signal.addEventListener("abort", callOff, { once: true });
    await this.#showing;
    signal.removeEventListener("abort", callOff);
    cancel();
  }

  #rest(ms: number): void {
    this.#isIdle = false;
    this.#cancelRest = this.#parts.clock.after(ms, () => this.#show());
  }

  #show(): void {
    const text = draftText(this.#written, this.#of.channel.text?.maxChars ?? DEFAULT_MAX_CHARS);
    if (text === "" || text === this.#shown) return void (this.#isIdle = true);
    // Its place is behind what is still on its way there.
    const isBehind = this.#id === undefined && !this.#parts.dispatcher.isIdle(this.#attempt.message.lane);
    if (isBehind) return this.#rest(this.#rests.intervalMs);
    this.#showing = this.#tell(text).then((restMs) => {
      this.#showing = undefined;
      if (restMs === undefined) this.#isOver = true;
      if (!this.#isOver) this.#rest(restMs!);
    });
  }

  /** Resolves with how long it rests then; undefined: nothing more can be shown. Never rejects. */
  async #tell(text: string): Promise<number | undefined> {
    const callOff = (this.#callOff = new AbortController());
    const cancel = this.#parts.clock.after(LIMIT_MS, () => callOff.abort(new SvcError("REMOTE_TIMEOUT")));
    try {
      await within(callOff.signal, () => this.#sendOrEdit(text, callOff.signal));
    } catch (error) {
      if (this.#isOver) return undefined;
      if (this.#rests.isFirstFailure) this.#note(error);
      return this.#rests.afterFailure(error, this.#id !== undefined);
    } finally {
      cancel();
    }
    this.#shown = text;
    return this.#id === undefined ? undefined : this.#rests.afterSuccess();
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

  /** Also of one that was taken after nobody waited for it any more: the answer takes its place. */
  async #keepId(): Promise<void> {
    if (this.#isKept || this.#id === undefined) return;
    this.#isKept = await this.#parts.drafts.keep(this.#attempt.message.n, this.#id);
  }

  /** Its name only: its words may be the platform's. */
  #note(error: unknown): void {
    const reason = error instanceof SvcError ? error.code : error instanceof Error ? error.name : typeof error;
    const { channel } = this.#inbound.conversation;
    this.#parts.log.warn("an answer can't be shown while it is written", { channel, reason });
  }
}
