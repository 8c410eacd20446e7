/**
 * An answer of which each paragraph is a message as soon as it is complete, also the text between tool calls. The paragraphs go
 * by the outbox, as every answer does; the end of the turn adds the rest.
 *
 * A model that is asked again, after a failure or in another process, may use other words. Text in the same words is not sent
 * twice. From the first difference on everything is sent, behind a line that says so: no word of the answer is missing, and no
 * reader takes the text above for a part of it.
 */
import type { Delivery, NewDelivery, Store } from "@svc/store";
import type { Attempt } from "./attempt.ts";
import { answerRows, MAX_FILES, outgoingRows } from "./outgoing-rows.ts";
import type { Streaming, StreamingDeps, TargetSource } from "./streaming.ts";

export const ANEW = "(The answer broke off. From here on it is written anew.)";

/** What the outbox does not have yet. */
interface Unsaid {
  readonly row: NewDelivery;
  readonly step: number;
  readonly isNote: boolean;
}

export class ParagraphSender implements Streaming {
  readonly draft = undefined;
  readonly #deps: StreamingDeps;
  readonly #attempt: Attempt;
  readonly #target: TargetSource;
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

  constructor(deps: StreamingDeps, attempt: Attempt, target: TargetSource) {
    this.#deps = deps;
    this.#attempt = attempt;
    this.#target = target;
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
      this.#deps.log.error("a part of an answer could not be sent before its end", { error: String(error) });
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
    const { rows, count } = saidBefore(this.#deps.store, this.#attempt.message.turnId, step);
    [this.#step, this.#said, this.#count] = [step, [...rows], count];
  }

  async #say(paragraph: string): Promise<void> {
    const { inbound, message } = this.#attempt;
    const rows = await answerRows(this.#target(), inbound, message.turnId, paragraph, MAX_FILES - this.#files);
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
    const { store, clock, dispatcher } = this.#deps;
    const rows = this.#unsaid.map(({ row }) => row);
    if (rows.length === 0) return;
    const stored = await store
      .write(() => (this.#isWanted() ? store.outbox.add(rows, clock.now()) : []))
      .catch(() => undefined);
    if (!stored) return;
    this.#unsaid = [];
    dispatcher.wake(stored);
  }

  /** Inside the transaction: nobody has stopped or dropped it. */
  #isWanted(): boolean {
    const { message, calledOff } = this.#attempt;
    return calledOff === undefined && this.#deps.store.inbox.read(message.n)?.state === "waiting";
  }
}

// Paragraphs that were sent before the answer was whole are rows of the outbox whose keys name turn, step and place. A later
// attempt finds by them what need not be sent again.

interface SaidBefore {
  /** In order, as the last attempt that said something left them. */
  readonly rows: readonly NewDelivery[];
  /** All there are, those of earlier attempts too. */
  readonly count: number;
}

const prefixOf = (turnId: string, step: number): string => `said:${turnId}:${step}:`;
const NOTE = "note";

/** `count`: of those before it, which makes it a name of its own. */
const saidKey = (turnId: string, step: number, place: number | undefined, count: number): string =>
  `${prefixOf(turnId, step)}${place ?? NOTE}:${count}`;

function saidBefore({ outbox }: Pick<Store, "outbox">, turnId: string, step: number): SaidBefore {
  const prefix = prefixOf(turnId, step);
  const all = outbox.ofTurn(turnId).filter(({ key }) => key?.startsWith(prefix));
  const rows: Delivery[] = [];
  for (const row of all) {
    const [place] = row.key!.slice(prefix.length).split(":");
    if (place === NOTE) continue;
    // One that said something else began there.
    rows.length = Math.min(rows.length, Number(place));
    rows.push(row);
  }
  return { rows, count: all.length };
}

const saysTheSame = (one: NewDelivery, other: NewDelivery): boolean =>
  one.text === other.text && JSON.stringify(one.files) === JSON.stringify(other.files);

/** A text that comes in pieces, as paragraphs: the text between two blank lines; a code block with all that is in it. */
export class Paragraphs {
  /** Whole lines of the paragraph that is not complete yet. */
  #lines: string[] = [];
  /** The line that is not. */
  #line = "";
  /** What opened the block that it ends in; blank outside of any. */
  #fence = "";

  /** `found`: told each that is complete now, in order. */
  push(text: string, found: (paragraph: string) => void): void {
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      this.#endLine(this.#line + text.slice(from, at), found);
      this.#line = "";
      from = at + 1;
    }
    this.#line += from === 0 ? text : text.slice(from);
  }

  /** What is left, at the end of the text. Blank: nothing. */
  rest(): string {
    return [...this.#lines, this.#line].join("\n").trimEnd();
  }

  #endLine(line: string, found: (paragraph: string) => void): void {
    if (this.#fence === "" && line.trim() === "") {
      if (this.#lines.length > 0) found(this.#lines.join("\n").trimEnd());
      this.#lines = [];
      return;
    }
    this.#lines.push(line);
    const [, fence = "", info = ""] = FENCE.exec(line) ?? [];
    if (this.#fence === "") this.#fence = fence;
    else if (fence.startsWith(this.#fence) && info.trim() === "") this.#fence = "";
  }
}

/** A block ends with as many of the same as it began with, or more. Three backticks and three more in one line are no block. */
const FENCE = /^\s*(`{3,}(?=[^`]*$)|~{3,})(.*)$/s;
