/**
 * What one connection may make the server do ahead of its client. Node parses everything it has read in one go: 64 KB hold
 * 1 500 requests, each some kilobytes of objects until its answer is read. 300 connections that send so much and read
 * nothing took a gigabyte, and ten seconds of the event loop.
 *
 * Here the parser is fed up to the end of one request's headers at a time. What follows waits, unparsed, in the socket's own
 * buffer: until the answers before it are read, and until it is this connection's turn. The end of the stream waits behind
 * it, so that nothing is lost or served out of order.
 */
import type { RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Logger } from "@svc/contract";
import { type Link, LinkedList } from "@svc/kernel";
import { RareLines } from "../rare-lines.ts";
import { type Excess, Intake, type IntakeDeps } from "./intake.ts";
import { MemoryRoom } from "./memory-room.ts";

/** Connections with requests that wait to be parsed. Each holds up to two reads of 64 KB. */
const MOST_HOLDING = 512;
/** Waiting requests parsed in one turn of the event loop, over all connections: those that do not pipeline come in between. */
const PER_TURN = 8;
/** Fewer where each is long: to write a large answer takes as long as to parse twenty requests. */
const TURN_MS = 0.25;

export interface BudgetDeps {
  readonly clock: Clock;
  readonly log: Logger;
}

export class RequestBudget implements IntakeDeps {
  /** Answers that were written and not read, over all connections. */
  readonly unread = new MemoryRoom();
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #lines: RareLines;
  /** Connections that may go on, in the order in which they began to wait. */
  readonly #ready = new LinkedList<Intake>();
  /** Connections whose requests wait, the longest first. */
  readonly #holding = new LinkedList<Intake>();
  #isScheduled = false;
  /** Of this turn of the event loop. */
  #left = 0;
  #endsAtMs = 0;

  constructor({ clock, log }: BudgetDeps) {
    this.#clock = clock;
    this.#log = log;
    this.#lines = new RareLines(clock);
  }

  /** Applies to all connections of `server`. Its listeners must be wrapped by `each`. */
  guard(server: Server): void {
    server.on("connection", (socket) => intakes.set(socket, new Intake(socket, this)));
    // Whatever is still to come has no certain beginning: none of it is parsed.
    server.prependListener("clientError", (_error, socket) => intakes.get(socket as Socket)?.stop());
  }

  /** Counts the requests that reach `listener`. */
  each(listener: RequestListener): RequestListener {
    return (incoming, outgoing) => {
      intakes.get(incoming.socket)?.began(incoming, outgoing);
      listener(incoming, outgoing);
    };
  }

  /** Lets the connection go on when it is its turn. */
  schedule(intake: Intake): Link<Intake> {
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(this.#turn);
    }
    return this.#ready.add(intake);
  }

  cancel(link: Link<Intake>): void {
    this.#ready.delete(link);
  }

  /** Notes that requests of the connection wait. Past the most, the connection that has been waiting the longest goes. */
  hold(intake: Intake): Link<Intake> {
    const link = this.#holding.add(intake);
    if (this.#holding.size > MOST_HOLDING) this.#holding.first!.cut("requests");
    return link;
  }

  /** Notes that a connection was closed for what its client made us hold. */
  closed(what: Excess): void {
    const count = this.#lines.note(what);
    if (count > 0)
      this.#log.warn("connections are closed: too many send requests and do not read answers", { what, count });
  }

  release(link: Link<Intake>): void {
    this.#holding.delete(link);
  }

  readonly #turn = (): void => {
    this.#left = PER_TURN;
    this.#endsAtMs = this.#clock.monotonic() + TURN_MS;
    this.#step();
  };

  readonly #step = (): void => {
    this.#ready.shift()?.proceed();
    this.#left -= 1;
    this.#isScheduled = this.#ready.size > 0;
    if (!this.#isScheduled) return;
    const isTurnOver = this.#left === 0 || this.#clock.monotonic() >= this.#endsAtMs;
    // A connection that was resumed hands over what it has in a tick of its own, which comes before this one.
    if (isTurnOver) setImmediate(this.#turn);
    else process.nextTick(this.#step);
  };
}

/** By connection. A symbol on the socket would be as quick, and seen by everybody. */
const intakes = new WeakMap<Socket, Intake>();

/** Notes that all of an answer is written and not all of it read, for as long as that is so. */
export function holdUnread(outgoing: ServerResponse): void {
  intakes.get(outgoing.req.socket)?.unread(outgoing);
}
