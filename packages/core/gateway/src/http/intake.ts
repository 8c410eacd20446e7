/**
 * The way of one connection's bytes to the parser, a request at a time. What may not be parsed yet waits in the socket's own
 * buffer, and the end of the stream behind it.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Link } from "@svc/kernel";
import { declaredBytes } from "./body.ts";
import { afterLines, endOfHead, seenOfEnd } from "./head-end.ts";
import { hasParser, isPausedByNode } from "./in-flight.ts";
import type { MemoryRoom, Place } from "./memory-room.ts";

/** Requests of one connection that are not answered, or whose answers are not read. */
const MOST_IN_FLIGHT = 32;
/** Answers of one connection that wait behind another one. */
const MOST_UNREAD_BYTES = 262_144;
/** Lines of a chunked body in one turn: a chunk has two, and one of a byte costs as much as one of a kilobyte. */
const CHUNKED_LINES = 128;

/** What all connections share. */
export interface IntakeDeps {
  /** Answers that were written and not read. */
  readonly unread: MemoryRoom;
  /** Whether one more request of the peer may be parsed in this turn of the event loop; counts it if so. */
  mayBegin(socket: Socket): boolean;
  /** Calls `proceed` when it is the connection's turn. */
  schedule(intake: Intake): Link<Intake>;
  cancel(link: Link<Intake>): void;
  /** Notes that requests of the connection wait. */
  hold(intake: Intake): Link<Intake>;
  release(link: Link<Intake>): void;
  /** Notes that the connection was closed for what its client left unread. */
  closed(what: Excess): void;
}

export type Excess = "requests" | "answers";

const NOTHING = Buffer.alloc(0);

type Parse = (bytes: Buffer) => void;

/** The way of a connection's bytes to the parser. */
export class Intake {
  readonly #socket: Socket;
  readonly #deps: IntakeDeps;
  readonly #parse: Parse;
  #inFlight = 0;
  /** Requests so far. */
  #begun = 0;
  /** The newest request: what follows its headers is its body. */
  #newest: IncomingMessage | undefined;
  /** What is to come of its body; Infinity while it is chunked and goes on. */
  #bodyLeft = 0;
  /** How much of the end of a head the last bytes were: a read may end within it. */
  #seen = 0;
  /** Set as long as requests wait. */
  #holding: Link<Intake> | undefined;
  /** Set as long as they wait for their turn, and not for answers. */
  #ready: Link<Intake> | undefined;
  /** It is its turn. */
  #mayProceed = false;
  #isOver = false;
  #unreadBytes = 0;
  #unread: Place | undefined;

  constructor(socket: Socket, deps: IntakeDeps) {
    this.#socket = socket;
    this.#deps = deps;
    // Node's server would read from the handle itself, and hand all of it to the parser; a listener of ours takes that back.
    const [parse] = socket.listeners("data");
    this.#parse = parse as Parse;
    socket.off("data", this.#parse);
    socket.on("data", this.#onData);
    socket.once("close", () => {
      this.stop();
      if (this.#unread) deps.unread.leave(this.#unread);
    });
  }

  began(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#begun += 1;
    this.#inFlight += 1;
    this.#newest = incoming;
    outgoing.on("close", this.#ended);
  }

  unread(outgoing: ServerResponse): void {
    const bytes = outgoing.writableLength;
    this.#place(this.#unreadBytes + bytes);
    outgoing.on("close", () => this.#place(this.#unreadBytes - bytes));
  }

  #place(bytes: number): void {
    const { unread } = this.#deps;
    this.#unreadBytes = bytes;
    if (bytes > 0) unread.hold((this.#unread ??= unread.enter(() => this.cut("answers"))), bytes);
    else if (this.#unread) this.#unread = void unread.leave(this.#unread);
  }

  /** Nothing more is parsed. */
  stop(): void {
    this.#isOver = true;
    this.#release();
  }

  cut(what: Excess): void {
    this.stop();
    this.#socket.destroy();
    this.#deps.closed(what);
  }

  proceed(): void {
    this.#ready = undefined;
    // Node goes on by itself when the client has read.
    if (this.#mustWait || isPausedByNode(this.#socket)) return;
    this.#mayProceed = true;
    this.#socket.resume();
  }

  readonly #ended = (): void => {
    this.#inFlight -= 1;
    this.#wake();
  };

  #wake(): void {
    if (this.#holding && !this.#ready && !this.#mustWait) this.#ready = this.#deps.schedule(this);
  }

  /** Until one of its answers is read. */
  get #isBlocked(): boolean {
    const unread = this.#socket.writableLength > 0 || this.#unreadBytes > MOST_UNREAD_BYTES;
    return this.#inFlight >= MOST_IN_FLIGHT || (unread && this.#inFlight > 0);
  }

  /** The rest of a body waits for no answer: a stream of events may be the answer to it. */
  get #mustWait(): boolean {
    return this.#bodyLeft === 0 && this.#isBlocked;
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#isOver) return;
    if (this.#isOnlyRequest(bytes) && this.#deps.mayBegin(this.#socket)) {
      this.#parsePiece(bytes);
      if (!hasParser(this.#socket)) this.#leave(NOTHING);
      return;
    }
    // The reader of a body resumes the connection, and so does Node after each request: neither makes it its turn.
    const hasSize = this.#bodyLeft > 0 && this.#bodyLeft < Infinity;
    const isTurn = this.#mayProceed || hasSize || this.#mayBegin(bytes);
    this.#mayProceed = false;
    const at = isTurn && !isPausedByNode(this.#socket) ? this.#feed(bytes) : 0;
    if (!hasParser(this.#socket)) this.#leave(bytes.subarray(at));
    else if (this.#isOver) this.#hideEnd(bytes);
    else if (at === bytes.length) this.#release();
    else this.#keep(bytes.subarray(at));
  };

  /** As nearly all are: it is whole, has no body, and nothing is before it. */
  #isOnlyRequest(bytes: Buffer): boolean {
    const isFree = this.#inFlight === 0 && this.#holding === undefined && this.#bodyLeft === 0 && this.#seen === 0;
    return isFree && endOfHead(bytes, 0, 0) === bytes.length && !isPausedByNode(this.#socket);
  }

  /** Whether what came by itself may be parsed at once. */
  #mayBegin(bytes: Buffer): boolean {
    if (this.#holding !== undefined || this.#isPipelined(bytes)) return false;
    return this.#bodyLeft > 0 || this.#deps.mayBegin(this.#socket);
  }

  /** Whether more than one request is in it: then also the first waits for its turn. */
  #isPipelined(bytes: Buffer): boolean {
    if (this.#bodyLeft > 0) return false;
    const first = endOfHead(bytes, 0, this.#seen);
    return first !== -1 && endOfHead(bytes, first, 0) !== -1;
  }

  /** The connection is closed, or speaks another protocol from here on, and another one listens. */
  #leave(rest: Buffer): void {
    const socket = this.#socket;
    socket.off("data", this.#onData);
    this.stop();
    if (rest.length > 0 && !socket.destroyed) socket.unshift(rest);
  }

  /**
   * What is broken came behind a request that is being answered, and the connection is paused until it is. Its end comes
   * through a pause where nothing is left to read, and would end the connection before the answer.
   */
  #hideEnd(bytes: Buffer): void {
    if (this.#socket.isPaused() && !this.#socket.destroyed) this.#socket.unshift(bytes);
  }

  /** Parses what may be parsed now, one request at most. Returns how much that is. */
  #feed(bytes: Buffer): number {
    const { length } = bytes;
    const begun = this.#begun;
    let chunkedEnd: number | undefined;
    for (let at = 0; ;) {
      if (this.#bodyLeft === Infinity && this.#newest!.complete) this.#bodyLeft = 0;
      if (this.#bodyLeft === Infinity) chunkedEnd ??= afterLines(bytes, at, CHUNKED_LINES);
      const to = this.#pieceEnd(bytes, at, this.#begun > begun, chunkedEnd);
      if (to === at) return at;
      this.#parsePiece(at === 0 && to === length ? bytes : bytes.subarray(at, to));
      at = to;
      const isOurs = hasParser(this.#socket) && !this.#isOver;
      // A body that is not read pauses the connection, and its reader resumes it.
      if (at === length || !isOurs || this.#socket.isPaused()) return at;
    }
  }

  /** Up to where the parser may have it: never beyond the end of one head. */
  #pieceEnd(bytes: Buffer, at: number, hasBegun: boolean, chunkedEnd: number | undefined): number {
    if (this.#bodyLeft > 0 && this.#bodyLeft < Infinity) return Math.min(bytes.length, at + this.#bodyLeft);
    const headEnd = endOfHead(bytes, at, this.#seen);
    const end = headEnd === -1 ? bytes.length : headEnd;
    // The last chunk ends like a head, so that no head can end in the same piece.
    if (this.#bodyLeft === Infinity) return Math.min(end, Math.max(at, chunkedEnd!));
    if (this.#isBlocked) return at;
    return hasBegun && headEnd !== -1 ? at : end;
  }

  #parsePiece(piece: Buffer): void {
    const begun = this.#begun;
    this.#seen = seenOfEnd(piece, this.#seen);
    if (this.#bodyLeft > 0) this.#bodyLeft -= piece.length;
    this.#parse(piece);
    // It ended with the head.
    if (this.#begun > begun) this.#bodyLeft = declaredBytes(this.#newest!);
  }

  /** Back into the socket's buffer, in front of what it has read since. */
  #keep(rest: Buffer): void {
    const socket = this.#socket;
    if (this.#isOver || socket.destroyed) return;
    const isPaused = socket.isPaused();
    socket.pause();
    socket.unshift(rest);
    if (isPaused && this.#bodyLeft > 0) return;
    this.#holding ??= this.#deps.hold(this);
    this.#wake();
  }

  #release(): void {
    if (this.#holding) this.#deps.release(this.#holding);
    if (this.#ready) this.#deps.cancel(this.#ready);
    this.#holding = this.#ready = undefined;
  }
}
