/**
 * An answer of which each paragraph is a message as soon as it is complete, what is said between tool calls too. The paragraphs
 * go the way of every answer, by the outbox; the end of the turn adds what is left.
 *
 * A model that is asked again, after a failure or in another process, may say it otherwise. What it says in the same words is
 * not said twice. From where it differs on everything is said, behind a line that tells so: no word of the answer is
 * missing, and nobody takes what stands above for a part of it.
 */
import type { NewDelivery } from "@svc/store";
import { outgoingRows } from "../channel-send/outgoing-rows.ts";
import { answerRows, MAX_FILES } from "../inbox/answer-rows.ts";
import type { Attempt } from "../inbox/attempt.ts";
import type { InboxParts } from "../inbox/parts.ts";
import { Paragraphs } from "./paragraphs.ts";
import { saidBefore, saidKey, saysTheSame } from "./said-rows.ts";
import type { AnswerSource, Writing } from "./writing.ts";

export const ANEW = "(The answer broke off. From here on it is written anew.)";

/** What the outbox does not have yet. */
interface Unsaid {
  readonly row: NewDelivery;
  readonly step: number;
  readonly isNote: boolean;
}

export class ParagraphSender implements Writing {
  readonly draft = undefined;
  readonly #parts: InboxParts;
  readonly #attempt: Attempt;
  readonly #source: AnswerSource;
  /** Of the try that runs, as it comes in. */
  #tries = 0;
  #asked = 0;
  #text = "";
  #paragraphs = new Paragraphs();
  /** One thing after the other: to look for a file takes a while. */
  #work: Promise<void> = Promise.resolve();
  #isEnding = false;
  #isOver = false;
  /** Of the step that is worked on: what is said of it, and will be. */
  #step = -1;
  #said: NewDelivery[] = [];
  #count = 0;
  /** How much of that the try has said again. */
  #place = 0;
  #files = 0;
  #unsaid: Unsaid[] = [];

  constructor(parts: InboxParts, attempt: Attempt, source: AnswerSource) {
    this.#parts = parts;
    this.#attempt = attempt;
    this.#source = source;
  }

  begin(step: number): void {
    this.#asked = step;
    this.#tries += 1;
    this.#text = "";
    this.#paragraphs = new Paragraphs();
    this.#then(() => this.#beginStep(step));
  }

  push(text: string): void {
    this.#text += text;
    this.#paragraphs.push(text, this.#sayLater);
  }

  async pause(text: string): Promise<void> {
    this.#whole(text);
    await this.#work;
  }

  async rows(response: string): Promise<readonly NewDelivery[]> {
    this.#isEnding = true;
    this.#whole(response);
    await this.#work;
    return this.#unsaid.map(({ row }) => row);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#work;
  }

  /** All of what the step says; the listener may not have heard it so. */
  #whole(text: string): void {
    if (text !== this.#text) {
      this.begin(this.#asked);
      this.push(text);
    }
    this.#sayLater(this.#paragraphs.rest());
    this.#then(() => this.#endStep());
  }

  readonly #sayLater = (paragraph: string): void => {
    const tries = this.#tries;
    this.#then(async () => {
      if (tries === this.#tries) await this.#say(paragraph);
    });
  };

  #then(work: () => Promise<void> | void): void {
    this.#work = this.#work.then(async () => {
      if (!this.#isOver) await work();
    });
    this.#work = this.#work.catch((error: unknown) => {
      this.#parts.log.error("a part of an answer could not be sent before its end", { error: String(error) });
    });
  }

  #beginStep(step: number): void {
    this.#place = 0;
    this.#files = 0;
    if (step === this.#step) {
      // What nobody was told is not said before.
      const unsaid = this.#unsaid.filter((one) => one.step === step && !one.isNote);
      this.#said.length -= unsaid.length;
      this.#unsaid = this.#unsaid.filter((one) => one.step !== step);
      return;
    }
    const { rows, count } = saidBefore(this.#parts.store, this.#attempt.message.turnId, step);
    [this.#step, this.#said, this.#count] = [step, [...rows], count];
  }

  async #say(paragraph: string): Promise<void> {
    const { inbound, message } = this.#attempt;
    const rows = await answerRows(this.#source(), inbound, message.turnId, paragraph, MAX_FILES - this.#files);
    for (const row of rows) {
      this.#files += row.files.length;
      const before = this.#said[this.#place];
      if (before && saysTheSame(before, row)) this.#place += 1;
      else this.#add(row);
    }
    if (!this.#isEnding) await this.#flush();
  }

  /** What was said, and is no part of it, stands at the end of what people read. */
  async #endStep(): Promise<void> {
    if (this.#place === this.#said.length) return;
    const all = this.#said.slice(0, this.#place);
    this.#place = 0;
    for (const row of all) this.#add(row);
    if (!this.#isEnding) await this.#flush();
  }

  #add(row: NewDelivery): void {
    if (this.#place < this.#said.length) {
      this.#said.length = this.#place;
      this.#name(this.#noteRow(), undefined);
    }
    this.#said.push(row);
    this.#name(row, this.#place);
    this.#place += 1;
  }

  #name(row: NewDelivery, place: number | undefined): void {
    const key = saidKey(this.#attempt.message.turnId, this.#step, place, this.#count);
    this.#count += 1;
    this.#unsaid.push({ row: { ...row, key }, step: this.#step, isNote: place === undefined });
  }

  #noteRow(): NewDelivery {
    const { conversation, replyData } = this.#attempt.inbound;
    const saying = { conversation, replyData, turnId: this.#attempt.message.turnId, text: ANEW, files: [] };
    return outgoingRows(undefined, saying)[0]!;
  }

  /** What the disk refuses is tried with what comes next, and at the latest with the end of the turn. */
  async #flush(): Promise<void> {
    const { store, clock, dispatcher } = this.#parts;
    const rows = this.#unsaid.map(({ row }) => row);
    if (rows.length === 0) return;
    const kept = await store
      .write(() => (this.#isWanted() ? store.outbox.add(rows, clock.now()) : []))
      .catch(() => undefined);
    if (!kept) return;
    this.#unsaid = [];
    dispatcher.wake(kept);
  }

  /** Inside the transaction: nobody has stopped or dropped it. */
  #isWanted(): boolean {
    const { message, calledOff } = this.#attempt;
    return calledOff === undefined && this.#parts.store.inbox.read(message.n)?.state === "waiting";
  }
}
