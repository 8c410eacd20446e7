/** Something that is to be said in a call, from the moment it is known to the moment the platform has it. */
import { createHash } from "node:crypto";
import { SvcError } from "@svc/contract";
import type { Spoken } from "../twiml/documents.ts";
import type { Asked } from "./place.ts";

export interface NewUtterance {
  /** Of the message. */
  readonly deliveryId: string;
  /** Of which turn of the caller's it is the answer, or a part of it; undefined: of none. */
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
    // Whoever waits for it may have left.
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
