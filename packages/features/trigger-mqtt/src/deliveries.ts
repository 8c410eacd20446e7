/**
 * What the broker has sent already. A message whose acknowledgement the broker has not seen comes again: after a kill with the number
 * it had, after a crash of the broker also without the mark of a repetition, and a retained one with every subscription. The last message
 * of each number is kept in the transaction that started its runs, so a repetition is known as one, and nothing else is.
 */
import { createHash } from "node:crypto";
import type { Clock, StateStore } from "@svc/contract";

export interface Message {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly retained: boolean;
  /** The broker says that it was sent before. */
  readonly repeated: boolean;
  /** Undefined with QoS 0, which is sent once. */
  readonly number: number | undefined;
}

/** How long a message that was acknowledged is known: a broker that crashed may go back to its last snapshot, half an hour old. */
const KNOWN_MS = 3_600_000;
/** Topics whose last value is kept, for retained messages. */
const MOST_TOPICS = 10_000;

interface Mark {
  readonly session: number;
  readonly sequence: number;
  readonly digest: string;
  readonly atMs: number;
}

export class Deliveries {
  readonly #state: StateStore;
  readonly #clock: Clock;
  #session = 0;
  /** Of the last message that was committed. */
  #sequence = 0;
  /** Of the last one whose acknowledgement the broker has seen. */
  #confirmed = 0;
  /** The broker sends what it still has from before the connection, in order, then what is new. */
  #isCatchingUp = true;

  constructor(state: StateStore, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  /** At the beginning of a connection. `isResumed`: the broker has kept the session. */
  async begin(isResumed: boolean): Promise<void> {
    const stored = numbersOf(await this.#state.get(PLACE));
    [this.#session = 0, this.#sequence = 0, this.#confirmed = 0] = stored;
    this.#isCatchingUp = true;
    if (isResumed) return;
    // Numbers of another session say nothing.
    this.#session += 1;
    await this.#state.set(PLACE, this.#place(this.#confirmed, this.#sequence));
  }

  async isKnown(message: Message): Promise<boolean> {
    if (message.retained) return (await this.#state.get(topicName(message.topic))) === valueOf(message);
    if (message.number === undefined) return false;
    if (!message.repeated && !this.#isCatchingUp) return false;
    const isKnown = this.#isSame(await this.#markOf(message.number), message);
    if (!isKnown && !message.repeated) this.#isCatchingUp = false;
    return isKnown;
  }

  /** Stored with a message and its runs. */
  next(message: Message): Readonly<Record<string, string>> {
    const { topic, number } = message;
    const value = { [topicName(topic)]: valueOf(message) };
    if (number === undefined || message.retained) return value;
    const sequence = this.#sequence + 1;
    const mark: Mark = { session: this.#session, sequence, digest: digestOf(message), atMs: this.#clock.now() };
    return { ...value, [PLACE]: this.#place(this.#confirmed, sequence), [markName(number)]: JSON.stringify(mark) };
  }

  /** What `next` gave of it is on disk. */
  taken({ number, retained }: Message): void {
    if (number !== undefined && !retained) this.#sequence += 1;
  }

  get sequence(): number {
    return this.#sequence;
  }

  /** The broker has seen the acknowledgements up to this sequence. Rejects with STORE_*. */
  async confirm(sequence: number): Promise<void> {
    if (sequence <= this.#confirmed) return;
    this.#confirmed = sequence;
    await this.#state.set(PLACE, this.#place(sequence, this.#sequence));
  }

  /** Forgets topics beyond the most that are kept. */
  async prune(): Promise<void> {
    const names = await this.#state.list(TOPIC);
    for (const name of names.slice(MOST_TOPICS)) await this.#state.delete(name);
  }

  #isSame(mark: Mark | undefined, message: Message): boolean {
    if (!mark || mark.session !== this.#session || mark.digest !== digestOf(message)) return false;
    return mark.sequence > this.#confirmed || Math.abs(this.#clock.now() - mark.atMs) < KNOWN_MS;
  }

  async #markOf(number: number): Promise<Mark | undefined> {
    const text = await this.#state.get(markName(number));
    return text === undefined ? undefined : (JSON.parse(text) as Mark);
  }

  #place(confirmed: number, sequence: number): string {
    return [this.#session, sequence, confirmed].join(" ");
  }
}

const PLACE = "place";
const TOPIC = "topic/";
const markName = (number: number): string => `number/${number}`;
const topicName = (topic: string): string => `${TOPIC}${createHash("sha256").update(topic).digest("hex").slice(0, 32)}`;

const numbersOf = (text: string | undefined): number[] => (text ?? "0 0 0").split(" ").map(Number);

/** The same when it is published, where nothing says that the broker keeps it, and when it comes as a retained one. */
const valueOf = ({ payload }: Message): string => createHash("sha256").update(payload).digest("hex");

const digestOf = ({ topic, payload, retained }: Message): string =>
  createHash("sha256")
    .update(`${retained} ${Buffer.byteLength(topic)} ${topic} `)
    .update(payload)
    .digest("hex");
