/** The turns that run or wait, by conversation: whoever stops one need not know where it came from. */
import { type ClientId, type Clock, SvcError } from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/kernel";
import type { TurnRequest } from "../types.ts";
import { type Conversation, conversationKey } from "./history.ts";
import { TimeLimit } from "./time-limit.ts";

export class ActiveTurn {
  readonly id = `t-${crypto.randomUUID()}`;
  readonly request: TurnRequest;
  readonly agent: string;
  readonly owner: ClientId;
  /** What the owner calls the conversation. */
  readonly name: string;
  readonly limit: TimeLimit;
  /** Undefined while the turn waits. */
  conversation: Conversation | undefined;
  /** Wall clock; 0 while it waits. */
  startedAt = 0;
  #isClosing = false;

  constructor(request: TurnRequest, name: string, clock: Clock) {
    const { agent = DEFAULT_AGENT, owner = request.clientId, signal } = request;
    this.request = request;
    this.agent = agent;
    this.owner = owner;
    this.name = name;
    this.limit = new TimeLimit(clock, signal);
  }

  get key(): string {
    return conversationKey(this.owner, this.name);
  }

  /** Tells whether it can still be stopped; if so, it will end with TURN_CANCELLED. */
  stop(by: string): boolean {
    if (this.#isClosing || this.limit.signal.aborted) return false;
    this.limit.stop(new SvcError("TURN_CANCELLED", `The turn was stopped by ${by}.`));
    return true;
  }

  /** There is an answer, and it is being kept: too late to stop. Throws the reason when somebody was quicker. */
  close(): void {
    this.limit.signal.throwIfAborted();
    this.#isClosing = true;
  }

  /** It failed: too late to stop. Returns what it failed with, which is the reason when somebody was quicker. */
  fail(error: unknown): unknown {
    const isStopped = !this.#isClosing && this.limit.signal.aborted;
    this.#isClosing = true;
    return isStopped ? this.limit.signal.reason : error;
  }
}

export class ActiveTurns {
  readonly #byConversation = new Map<string, Set<ActiveTurn>>();

  add(turn: ActiveTurn): void {
    const turns = this.#byConversation.get(turn.key);
    if (turns) turns.add(turn);
    else this.#byConversation.set(turn.key, new Set([turn]));
  }

  delete(turn: ActiveTurn): void {
    const turns = this.#byConversation.get(turn.key);
    if (turns?.delete(turn) && turns.size === 0) this.#byConversation.delete(turn.key);
  }

  has(key: string): boolean {
    return this.#byConversation.has(key);
  }

  /** Stops what runs and what waits behind it. Tells whether there was anything that could be stopped. */
  stop(key: string, by: string): boolean {
    const stopped = [...(this.#byConversation.get(key) ?? [])].map((turn) => turn.stop(by));
    return stopped.includes(true);
  }

  /** Those that run, oldest first. */
  running(): (ActiveTurn & { conversation: Conversation })[] {
    return [...this.#byConversation.values()]
      .flatMap((turns) => [...turns])
      .filter((turn): turn is ActiveTurn & { conversation: Conversation } => turn.conversation !== undefined)
      .sort((a, b) => a.startedAt - b.startedAt);
  }
}
