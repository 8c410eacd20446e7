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
import { peerOf } from "../net/peer.ts";
import { RareLines } from "../rare-lines.ts";
import { type Excess, Intake, type IntakeDeps } from "./intake.ts";
import { MemoryRoom } from "./memory-room.ts";

/** Connections with requests that wait to be parsed. Each holds up to two reads of 64 KB. */
const MOST_HOLDING = 512;
/** Waiting requests parsed in one turn of the event loop, over all connections: those that do not pipeline come in between. */
const PER_TURN = 8;
/** To parse them. */
const TURN_MS = 0.25;
/** One turn with all that it led to, answers included. After a longer one, half as many requests are parsed in the next. */
const ROUND_MS = 1;

/** Requests of one peer parsed in one turn while others are served: the rest of them wait. */
const PER_PEER = 8;
/** Peers are served side by side for so long after the last request of another one. */
const SIDE_BY_SIDE_MS = 100;

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
  /** Requests that the next turn may parse. */
  #share = PER_TURN;
  /** Of this turn of the event loop. */
  #left = 0;
  #beganAtMs = 0;
  /** The peer of the newest request, and when it last was another one than before. */
  #peer = "";
  #changedAtMs = -Infinity;
  #isSideBySide = false;
  /** By peer: requests parsed in this turn while several are served. */
  readonly #begun = new Map<string, number>();

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

  /**
   * A peer that is alone takes what it can get: nothing is gained by making it wait. Beside others it gets a share of each
   * turn, so that a hundred of its connections don't come before each step of another one's request.
   */
  mayBegin(socket: Socket): boolean {
    const peer = peerOf(socket).limiterKey;
    if (peer !== this.#peer) {
      this.#isSideBySide = this.#peer !== "";
      this.#peer = peer;
      this.#changedAtMs = this.#clock.monotonic();
    }
    if (!this.#isSideBySide) return true;
    if (this.#begun.size === 0) setImmediate(this.#endTurn);
    const begun = this.#begun.get(peer) ?? 0;
    if (begun >= PER_PEER) return false;
    this.#begun.set(peer, begun + 1);
    return true;
  }

  readonly #endTurn = (): void => {
    this.#begun.clear();
    this.#isSideBySide = this.#clock.monotonic() - this.#changedAtMs < SIDE_BY_SIDE_MS;
  };

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
    this.#left = this.#share;
    this.#beganAtMs = this.#clock.monotonic();
    this.#step();
  };

  /** A turn that follows another one at once. Answers are written after the steps, and large ones take the most time. */
  readonly #nextTurn = (): void => {
    const tookMs = this.#clock.monotonic() - this.#beganAtMs;
    this.#share = tookMs > ROUND_MS ? Math.ceil(this.#share / 2) : Math.min(PER_TURN, this.#share + 1);
    this.#turn();
  };

  readonly #step = (): void => {
    this.#ready.shift()?.proceed();
    this.#left -= 1;
    this.#isScheduled = this.#ready.size > 0;
    if (!this.#isScheduled) return;
    const isTurnOver = this.#left === 0 || this.#clock.monotonic() - this.#beganAtMs >= TURN_MS;
    // A connection that was resumed hands over what it has in a tick of its own, which comes before this one.
    if (isTurnOver) setImmediate(this.#nextTurn);
    else process.nextTick(this.#step);
  };
}

/** By connection. A symbol on the socket would be as quick, and seen by everybody. */
const intakes = new WeakMap<Socket, Intake>();

/** Notes that all of an answer is written and not all of it read, for as long as that is so. */
export function holdUnread(outgoing: ServerResponse): void {
  intakes.get(outgoing.req.socket)?.unread(outgoing);
}
