/** All attacks on one endpoint: made a few at a time, carried out side by side, judged, counted. */
import type * as fc from "fast-check";
import type { Attack, Exchange } from "./attack.ts";
import { attacksOn, sample, slowAttacksOn } from "./attacks/index.ts";
import type { Endpoint } from "./attacks/subject.ts";
import { nameOf } from "./endpoints.ts";
import { judge } from "./judge/judge.ts";
import type { Victim } from "./place/daemon.ts";
import { readAnswers } from "./wire/answers.ts";
import { exchange, type Patience } from "./wire/exchange.ts";

export interface Violation {
  readonly endpoint: string;
  readonly kind: string;
  readonly problem: string;
  /** Beginning of what was sent and of what came back, readable. */
  readonly sent: string;
  readonly received: string;
}

export interface EndpointReport {
  readonly endpoint: string;
  readonly sent: number;
  readonly kinds: Readonly<Record<string, number>>;
  /** Status and code, or how it ended without an answer. */
  readonly answers: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  readonly violations: readonly Violation[];
}

export interface RunOptions {
  readonly seed: number;
  readonly count: number;
  /** Exchanges at the same time. */
  readonly width: number;
  readonly patience: Patience;
}

export const attackEndpoint = (endpoint: Endpoint, victim: Victim, options: RunOptions): Promise<EndpointReport> =>
  attackAll(endpoint, attacksOn(endpoint, victim.credentials), victim, options);

/** The ones that take their time: all of them at once. */
export const attackSlowly = (endpoint: Endpoint, victim: Victim, options: RunOptions): Promise<EndpointReport> =>
  attackAll(endpoint, slowAttacksOn(endpoint, victim.credentials), victim, { ...options, width: options.count });

/** Made so many at a time: some are megabytes. */
const PART = 64;

async function attackAll(
  endpoint: Endpoint,
  attacks: fc.Arbitrary<Attack>,
  victim: Victim,
  { seed, count, width, patience }: RunOptions,
): Promise<EndpointReport> {
  const tally = new Tally(nameOf(endpoint), victim.secrets);
  // Not the same attacks on every endpoint.
  const own = [...nameOf(endpoint)].reduce((sum, one) => Math.imul(sum, 31) + one.charCodeAt(0), seed);
  let made = 0;
  let waiting: Attack[] = [];
  const next = (): Attack | undefined => {
    if (waiting.length === 0 && made < count) {
      waiting = sample(attacks, own, made / PART, Math.min(PART, count - made));
      made += waiting.length;
    }
    return waiting.shift();
  };
  const work = async (): Promise<void> => {
    for (let attack = next(); attack !== undefined; attack = next()) {
      tally.note(attack, await exchange(attack, victim.place, patience));
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, work));
  return tally.report();
}

class Tally {
  readonly #endpoint: string;
  readonly #secrets: readonly string[];
  readonly #kinds: Record<string, number> = {};
  readonly #answers: Record<string, number> = {};
  readonly #violations: Violation[] = [];
  #slowestMs = 0;

  constructor(endpoint: string, secrets: readonly string[]) {
    this.#endpoint = endpoint;
    this.#secrets = secrets;
  }

  note(attack: Attack, exchanged: Exchange): void {
    count(this.#kinds, attack.kind);
    const { final } = readAnswers(exchanged.received, attack.head);
    for (const { status, body } of final) count(this.#answers, `${status} ${codeIn(body)}`.trim());
    if (final.length === 0) count(this.#answers, `no answer, ended by ${exchanged.endedBy}`);
    if (attack.slow === undefined) this.#slowestMs = Math.max(this.#slowestMs, exchanged.tookMs);
    for (const problem of judge(attack, exchanged, { secrets: this.#secrets })) {
      const { kind, steps } = attack;
      const sent = shown(Buffer.concat(steps.flatMap((step) => ("write" in step ? [step.write] : []))));
      this.#violations.push({ endpoint: this.#endpoint, kind, problem, sent, received: shown(exchanged.received) });
    }
  }

  report(): EndpointReport {
    const sent = Object.values(this.#kinds).reduce((sum, one) => sum + one, 0);
    return {
      endpoint: this.#endpoint,
      sent,
      kinds: this.#kinds,
      answers: this.#answers,
      slowestMs: Math.round(this.#slowestMs),
      violations: this.#violations,
    };
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

const codeIn = (body: Buffer): string => /"code":"([A-Z_]+)"/.exec(body.toString("latin1", 0, 2_000))?.[1] ?? "";

const SHOWN_BYTES = 1_500;

/** Control characters and bytes above ASCII made visible. */
function shown(bytes: Buffer): string {
  const text = JSON.stringify(bytes.toString("latin1", 0, SHOWN_BYTES)).slice(1, -1);
  const visible = text.replace(/[\x7f-\xff]/g, (one) => String.raw`\x${one.charCodeAt(0).toString(16)}`);
  return bytes.length > SHOWN_BYTES ? `${visible}… (${bytes.length} bytes)` : visible;
}
