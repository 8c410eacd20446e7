/** The calls that are going on, and for a while those that are over: a late answer must not ring the caller again. */
import { SvcError } from "@svc/contract";
import { createHash } from "node:crypto";
import type { Asked, Progress } from "./progress.ts";
import type { Person } from "./protocol.ts";
import type { Spoken } from "./twiml.ts";

// The calls that are going on, and for a while those that are over: an answer that comes late must not ring anyone up.

/** More than run at the same time; a forgotten call is fetched from the platform. */
const MOST = 1_000;
/** The parts of a message are sent one right after the other. */
const PARTS_MS = 10_000;
/** So long nothing was heard of it, and no call is so long. */
const FORGOTTEN_MS = 6 * 3_600_000;

export class Calls {
  readonly #bySid = new Map<string, Call>();
  #isStopped = false;

  get(sid: string): Call | undefined {
    return this.#bySid.get(sid);
  }

  /** The open call with this SID, or a new one. */
  open(about: ConstructorParameters<typeof Call>[0]): Call {
    const there = this.#bySid.get(about.sid);
    if (there) return there;
    const call = new Call(about);
    if (this.#isStopped) call.stop();
    this.#bySid.set(call.sid, call);
    this.#forget(about.seenAtMs);
    return call;
  }

  /** The latest with this person that is not known to be over. */
  liveWith(person: string): Call | undefined {
    return [...this.#bySid.values()].findLast((call) => call.person.id === person && call.over === undefined);
  }

  /** Why a message is not said to them: it is the rest of one that their call broke off. */
  restOf(person: string, goesOn: boolean, nowMs: number): string | undefined {
    const last = [...this.#bySid.values()].findLast((call) => call.person.id === person);
    if (last?.brokeOffMs === undefined || nowMs - last.brokeOffMs > PARTS_MS) return undefined;
    last.brokeOffMs = goesOn ? nowMs : undefined;
    return last.over;
  }

  /** The channel ends, or is made anew: what waits is for the next one. */
  stop(): void {
    this.#isStopped = true;
    for (const call of this.#bySid.values()) call.stop();
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  #forget(nowMs: number): void {
    for (const call of this.#bySid.values()) {
      if (this.#bySid.size <= MOST && nowMs - call.seenAtMs < FORGOTTEN_MS) return;
      call.end(OVER, nowMs);
      this.#bySid.delete(call.sid);
    }
  }
}

// A call as this process knows it: what is to be said in it, and what the platform is doing. What the caller has heard is in the
// `Progress` of each webhook; this is what must be known between two of them.

/**
 * `holding`: nothing is said and no one is listened to, so that an update interrupts nothing. `busy`: something is said, or the
 * caller is heard. `unknown`: of a call from before this process, and after a request whose answer was lost.
 */
export type Doing = "holding" | "busy" | "unknown";

export const OVER = "The call is over. What was to be said in it is in the conversation.";
const INTERRUPTED = "The caller began to speak, and the rest of this answer was not said. It is in the conversation.";

export class Call {
  readonly sid: string;
  readonly person: Person;
  doing: Doing = "unknown";
  /** Milliseconds since the epoch when the platform last told of it. */
  seenAtMs: number;
  /** Of the document that the platform has, or is about to get. */
  progress: Progress;
  /** It ended before all parts of a message were said, at this time; those that are still to come are not wanted. */
  brokeOffMs: number | undefined;
  /** Sent to the platform, not yet answered. */
  pushing: Utterance | undefined;
  /** What the caller said that no answer has come to yet. */
  readonly #awaited = new Set<number>();
  readonly #queue: Utterance[] = [];
  /** Answers that were interrupted. */
  readonly #cut = new Set<number>();
  /** The last that were said. */
  readonly #said: string[] = [];
  /** The last that something was said in, so that the same webhook once more gets the same. */
  #lastAnswer: { readonly at: string; readonly document: string } | undefined;
  /** What was said last. */
  #last: Utterance | undefined;
  #over: string | undefined;
  #isStopped = false;
  readonly #endings: (() => void)[] = [];

  constructor(about: Pick<Call, "sid" | "person" | "progress" | "seenAtMs">) {
    this.sid = about.sid;
    this.person = about.person;
    this.progress = about.progress;
    this.seenAtMs = about.seenAtMs;
  }

  /** Why nothing can be said in it any more. */
  get over(): string | undefined {
    return this.#over;
  }

  /** What comes next; undefined: nothing waits. */
  get next(): Utterance | undefined {
    return this.#queue[0];
  }

  /** A webhook of the call arrived: marks the text that it confirms as said. False: a later webhook came first. */
  cameTo(progress: Progress, nowMs: number): boolean {
    this.seenAtMs = nowMs;
    if (progress.step < this.progress.step) return false;
    this.progress = progress;
    const heard = this.#queue.find(({ tag }) => tag === progress.said);
    if (heard) this.wasSaid(heard);
    else if (progress.said !== undefined) this.#note(progress.said);
    return true;
  }

  /** Joins the end of the queue, unless it was said, or no one wants to hear it any more: then it has ended already. */
  add(message: NewUtterance): Utterance {
    const utterance = new Utterance(message);
    if (this.#over !== undefined) utterance.refused(this.#over);
    else if (this.#isStopped) utterance.failed(stopped());
    else if (this.#said.includes(utterance.tag)) utterance.said();
    else if (message.turn !== undefined && this.#cut.has(message.turn)) utterance.refused(INTERRUPTED);
    else this.#queue.push(utterance);
    if (message.turn !== undefined) this.#awaited.delete(message.turn);
    return utterance;
  }

  isWaiting(utterance: Utterance): boolean {
    return this.#queue.includes(utterance);
  }

  wasSaid(utterance: Utterance): void {
    this.remove(utterance);
    this.#note(utterance.tag);
    this.#last = utterance;
    utterance.said();
  }

  remove(utterance: Utterance): void {
    const at = this.#queue.indexOf(utterance);
    if (at >= 0) this.#queue.splice(at, 1);
  }

  /** The caller speaks: drops the answer that is being said. */
  spoke(turn: number): void {
    this.#awaited.add(turn);
    if (this.#last?.turn !== undefined) this.#cut.add(this.#last.turn);
    for (const utterance of this.#queue.filter(({ turn: of }) => of !== undefined && this.#cut.has(of))) {
      this.remove(utterance);
      utterance.refused(INTERRUPTED);
    }
  }

  get isAwaited(): boolean {
    return this.#awaited.size > 0;
  }

  awaitNothing(): void {
    this.#awaited.clear();
  }

  /** `at`: names the webhook that is answered with it. */
  toldAt(at: string, document: string): void {
    this.#lastAnswer = { at, document };
  }

  documentOf(at: string): string | undefined {
    return this.#lastAnswer?.at === at ? this.#lastAnswer.document : undefined;
  }

  end(why: string, nowMs: number, wasAnswered: boolean = true): void {
    if (this.#over !== undefined) return;
    this.#over = why;
    const last = this.#queue.at(-1) ?? (wasAnswered ? undefined : this.#last);
    if (last?.goesOn === true && last.turn === undefined) this.brokeOffMs = nowMs;
    for (const utterance of this.#queue.splice(0)) utterance.refused(why);
    for (const run of this.#endings.splice(0)) run();
  }

  /** The channel stops: waiting deliveries fail as retryable, for the channel instance that replaces it. */
  stop(): void {
    this.#isStopped = true;
    for (const utterance of this.#queue.splice(0)) utterance.failed(stopped());
    for (const run of this.#endings.splice(0)) run();
  }

  /** Calls `run` when it is over, or at once. */
  atEnd(run: () => void): void {
    if (this.#over === undefined && !this.#isStopped) this.#endings.push(run);
    else run();
  }

  #note(tag: string): void {
    if (this.#said.includes(tag)) return;
    this.#said.push(tag);
    if (this.#said.length > MOST_SAID) this.#said.shift();
  }
}

export const stopped = (): SvcError => new SvcError("DELIVERY_FAILED", "The channel stops, or is made anew.");

const MOST_SAID = 100;

/** Something that is to be said in a call, from the moment it is known to the moment the platform has it. */
export interface NewUtterance {
  /** Of the message. */
  readonly deliveryId: string;
  /** The caller's turn that it answers, in whole or in part; undefined: none. */
  readonly turn: number | undefined;
  /** More of it is likely to follow at once. */
  readonly goesOn: boolean;
  readonly ask: Asked | undefined;
}

export class Utterance {
  readonly tag: string;
  readonly turn: number | undefined;
  readonly goesOn: boolean;
  readonly ask: Asked | undefined;
  /** Undefined while its speech is being made. */
  spoken: Spoken | undefined;
  readonly #end = Promise.withResolvers<void>();

  constructor({ deliveryId, turn, goesOn, ask }: NewUtterance) {
    this.tag = tagOf(deliveryId);
    this.turn = turn;
    this.goesOn = goesOn;
    this.ask = ask;
    // The waiting request may have ended.
    this.#end.promise.catch(() => {});
  }

  /** Resolves when the platform has it; rejects when it is not going to be said. */
  get ended(): Promise<void> {
    return this.#end.promise;
  }

  said(): void {
    this.#end.resolve();
  }

  refused(why: string): void {
    this.#end.reject(new SvcError("DELIVERY_REFUSED", why));
  }

  failed(error: SvcError): void {
    this.#end.reject(error);
  }
}

/** What stands for a delivery in URLs: the same in every process. */
const tagOf = (deliveryId: string): string => createHash("sha256").update(deliveryId).digest("hex").slice(0, 16);
