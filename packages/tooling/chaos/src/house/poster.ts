/** The platforms post what people wrote, as often as each of them does, and note what they were told. */
import { type Deliverer, startDeliverer } from "@svc/testkit/platforms/deliverer";
import type { Delivery } from "../plan/messages.ts";
import type { Provider } from "../providers/provider.ts";
import type { House } from "./house.ts";
import { sleep } from "./sleep.ts";

export interface Posting {
  readonly delivery: Delivery;
  /** Before anything of it was sent, in steps of what all of them do. */
  readonly begunAt: number;
  /** When it was first answered 200. */
  acknowledgedAt: number | undefined;
  /** Of every attempt. */
  readonly statuses: number[];
}

/** By the delivery's number. */
export type Postings = ReadonlyMap<number, Posting>;

export interface PosterOptions {
  /** Waits before a further attempt, for the minutes that the real platforms wait. Default: a moment, then longer. */
  readonly pause?: (attempt: number) => Promise<void>;
}

export interface PostOptions {
  /** At the same time. */
  readonly width: number;
  /** Resolves when the post of this place may begin. Default: at once. */
  readonly released?: (place: number) => Promise<void>;
}

export class Poster implements Disposable {
  readonly #house: Pick<House, "happenings" | "lives">;
  readonly #providers: ReadonlyMap<string, Provider>;
  readonly #deliverers: ReadonlyMap<string, Deliverer>;
  readonly #postings = new Map<number, Posting>();
  #step = 0;

  constructor(house: House, { pause = pauseBefore }: PosterOptions = {}) {
    const { providers, lives } = house;
    this.#house = house;
    this.#providers = new Map(providers.map((provider) => [provider.channel, provider]));
    this.#deliverers = new Map(
      providers.map(({ channel, path, attempts, patienceMs }) => {
        const url = (): string => `${lives.url}${path}`;
        return [channel, startDeliverer({ url, attempts, pause, patience: () => sleep(patienceMs) })];
      }),
    );
  }

  /** Of all that were begun. */
  get postings(): Postings {
    return this.#postings;
  }

  /** Resolves when none of them is tried any more. */
  async post(posts: readonly Delivery[], { width, released }: PostOptions): Promise<void> {
    const places = posts.entries();
    const work = async (): Promise<void> => {
      for (const [place, delivery] of places) {
        await released?.(place);
        await this.#post(delivery);
      }
    };
    await Promise.all(Array.from({ length: width }, work));
  }

  async #post(delivery: Delivery): Promise<void> {
    const { happenings, lives } = this.#house;
    const { n, channel, messages } = delivery;
    const provider = this.#providers.get(channel)!;
    // Who tries once only would lose all that people write while the daemon is down, and have nothing to show.
    if (provider.attempts === 1) await lives.up();
    const posting = this.#postings.get(n) ?? this.#begun(delivery);
    const { acknowledged, statuses } = await this.#deliverers.get(channel)!.deliver(() => {
      happenings.note("posted");
      return provider.delivery(messages);
    });
    posting.statuses.push(...statuses);
    if (acknowledged) posting.acknowledgedAt ??= ++this.#step;
  }

  #begun(delivery: Delivery): Posting {
    const posting = { delivery, begunAt: ++this.#step, acknowledgedAt: undefined, statuses: [] };
    this.#postings.set(delivery.n, posting);
    return posting;
  }

  [Symbol.dispose](): void {
    for (const deliverer of this.#deliverers.values()) deliverer[Symbol.dispose]();
  }
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

const pauseBefore = (attempt: number): Promise<void> =>
  sleep(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)));
