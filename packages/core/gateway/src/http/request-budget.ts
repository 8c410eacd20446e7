/**
 * What one connection may make the server do ahead of its client. Node parses everything it has read in one go: 64 KB hold
 * 1 500 requests, each some kilobytes of objects until its answer is read. 300 connections that send so much and read
 * nothing took a gigabyte, and ten seconds of the event loop.
 *
 * A connection is read and parsed by Node alone for as long as each of its requests may begin when its headers are there. The
 * first one that may not stops the parser. From then on the connection's bytes come this way, and the parser is fed up to the
 * end of one request's headers at a time. What follows waits, unparsed, in the socket's own buffer: until the answers before it
 * are read, and until it is this connection's turn. The end of the stream waits behind it, so that nothing is lost or served out
 * of order.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Logger } from "@svc/contract";
import { type Link, LinkedList } from "@svc/runtime";
import { responseInFlight } from "./connections.ts";
import { ThrottledLog, peerOf } from "../client.ts";
import {
  MemoryBudget,
  type MemoryHolder,
  type Parser,
  type Received,
  declaredBytes,
  hasParser,
  isPausedByNode,
  parserOf,
  takesBodyWhole,
} from "./request.ts";

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
  readonly unread = new MemoryBudget();
  beginning: Intake | undefined;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #lines: ThrottledLog;
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
    this.#lines = new ThrottledLog(clock);
  }

  /** Applies to all connections of `server`. Its listeners must be wrapped by `each`. */
  guard(server: Server): void {
    server.on("connection", (socket) => intakes.set(socket, new Intake(socket, this)));
    // After a parse error the start of the next request is unknown: parse nothing more.
    server.prependListener("clientError", (_error, socket) => intakes.get(socket as Socket)?.stop());
  }

  /** Tells a connection of its requests that reach `listener`, where its bytes come by us. */
  each(listener: RequestListener): RequestListener {
    return (incoming, outgoing) => {
      this.beginning?.began(incoming, outgoing);
      listener(incoming, outgoing);
    };
  }

  /**
   * A single peer has no quota: making it wait gains nothing. Beside others it gets a share of each turn, so that a hundred
   * of its connections don't run before each step of another peer's request.
   */
  mayBegin(peer: string): boolean {
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

  /** Records that a connection was closed because its client made us buffer too much. */
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
    // A resumed connection delivers its data in its own tick, which comes before this one.
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

// The way of one connection's bytes to the parser, a request at a time. What may not be parsed yet waits in the socket's own
// buffer, and the end of the stream behind it.

/** Requests of one connection that are not answered, or whose answers are not read. */
const MOST_IN_FLIGHT = 32;
/** Answers of one connection that wait behind another one. */
const MOST_UNREAD_BYTES = 262_144;
/** Lines of a chunked body in one turn: a chunk has two, and one of a byte costs as much as one of a kilobyte. */
const CHUNKED_LINES = 128;

/** What all connections share. */
export interface IntakeDeps {
  /** Answers that were written and not read. */
  readonly unread: MemoryBudget;
  /** Whose request is handed over right now, where its bytes come by us. */
  beginning: Intake | undefined;
  /** Whether one more request of the peer may be parsed in this turn of the event loop; counts it if so. */
  mayBegin(peer: string): boolean;
  /** Calls `proceed` when it is the connection's turn. */
  schedule(intake: Intake): Link<Intake>;
  cancel(link: Link<Intake>): void;
  /** Records that requests of the connection wait. */
  hold(intake: Intake): Link<Intake>;
  release(link: Link<Intake>): void;
  /** Records that the connection was closed because its client left too much unread. */
  closed(what: Excess): void;
}

export type Excess = "requests" | "answers";

/** A read ends before another one begins, whatever connection it is of: one buffer is enough for all. */
const READ = Buffer.allocUnsafeSlow(65_536);

/** Of a length of 0, and at an address: without one the parser would take it for the end of the stream. */
const NOTHING = READ.subarray(0, 0);

/** What `onIncoming` answers the parser with so that it stops behind the headers: `HPE_PAUSED` of llhttp. */
const STOP = 21;

type Parse = (bytes: Buffer) => void;

interface Held {
  readonly incoming: Received;
  readonly keepAlive: boolean;
}

/** The way of a connection's bytes to the parser. */
export class Intake {
  readonly #socket: Socket;
  readonly #deps: IntakeDeps;
  /** Node's: makes request and response, and hands them to the server's listener. */
  readonly #serve: Parser["onIncoming"];
  /** Feeds the parser. Undefined as long as Node does that by itself. */
  #parse: Parse | undefined;
  /** A request whose headers are parsed, and that may not begin yet. */
  #held: Held | undefined;
  /** By which its client is counted. */
  #peer: string | undefined;
  /** Answers whose end is not known yet: most have ended when the next request comes, and cost no listener. */
  readonly #open: ServerResponse[] = [];
  /** Requests so far. */
  #begun = 0;
  /** The newest request: the bytes after its headers are its body. */
  #newest: IncomingMessage | undefined;
  /** Bytes of its body still to come; Infinity for a chunked body that has not ended. */
  #bodyLeft = 0;
  /** How much of a head's end marker the last bytes matched: a read may end inside the marker. */
  #seen = 0;
  /** Set as long as requests wait. */
  #holding: Link<Intake> | undefined;
  /** Set as long as they wait for their turn, and not for answers. */
  #ready: Link<Intake> | undefined;
  /** It is its turn. */
  #mayProceed = false;
  #isOver = false;
  #unreadBytes = 0;
  #unread: MemoryHolder | undefined;

  constructor(socket: Socket, deps: IntakeDeps) {
    this.#socket = socket;
    this.#deps = deps;
    const parser = parserOf(socket)!;
    this.#serve = parser.onIncoming;
    parser.onIncoming = this.#onIncoming;
    takesBodyWhole(parser);
    socket.once("close", () => {
      this.stop();
      if (this.#unread) deps.unread.leave(this.#unread);
    });
  }

  began(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#begun += 1;
    this.#newest = incoming;
    this.#open.push(outgoing);
    if (this.#holding) this.#wakeAfter(outgoing);
  }

  unread(outgoing: ServerResponse): void {
    const bytes = outgoing.writableLength;
    this.#place(this.#unreadBytes + bytes);
    outgoing.on("close", () => this.#place(this.#unreadBytes - bytes));
  }

  #place(bytes: number): void {
    const { unread } = this.#deps;
    this.#unreadBytes = bytes;
    if (bytes > 0) unread.hold((this.#unread ??= unread.join(() => this.cut("answers"))), bytes);
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
    if (this.#held) return this.#beginHeld(this.#held);
    this.#mayProceed = true;
    this.#socket.resume();
  }

  /** The parser has the headers of a request, and does what it is answered with. */
  readonly #onIncoming: Parser["onIncoming"] = (incoming, keepAlive) => {
    if (this.#parse !== undefined) return this.#begin(incoming, keepAlive);
    if (!this.#isOver && this.#mayBeginAtOnce(incoming)) return this.#serve(incoming, keepAlive);
    this.#held = { incoming, keepAlive };
    const parser = parserOf(this.#socket)!;
    const { kOnExecute } = parser.constructor;
    const executed = parser[kOnExecute];
    parser[kOnExecute] = (result) => {
      parser[kOnExecute] = executed;
      const at = typeof result === "number" ? result : result.bytesParsed;
      parser.resume();
      this.#takeOver(parser.getCurrentBuffer().subarray(at));
    };
    return STOP;
  };

  /** Whether Node may go on by itself. Behind the headers of an upgrade it would drop what is no part of the request. */
  #mayBeginAtOnce(incoming: Received): boolean {
    const isPlain = !incoming.upgrade && incoming.headers["transfer-encoding"] === undefined;
    return isPlain && responseInFlight(this.#socket) === undefined && this.#deps.mayBegin(this.#limiterKey);
  }

  #begin(incoming: Received, keepAlive: boolean): number {
    this.#deps.beginning = this;
    try {
      return this.#serve(incoming, keepAlive);
    } finally {
      this.#deps.beginning = undefined;
    }
  }

  #beginHeld({ incoming, keepAlive }: Held): void {
    this.#held = undefined;
    this.#bodyLeft = declaredBytes(incoming);
    this.#begin(incoming, keepAlive);
    // Its end needs no more bytes, and the parser is told nothing before it is fed.
    if (this.#bodyLeft === 0 && hasParser(this.#socket)) this.#parse!(NOTHING);
    if (!hasParser(this.#socket)) return this.#leave(NOTHING);
    this.#release();
    this.#socket.resume();
  }

  /** From here on Node reads into the socket's buffer, and nothing is parsed but by us. `rest`: what is read already. */
  #takeOver(rest: Buffer): void {
    const socket = this.#socket;
    const [parse] = socket.listeners("data");
    this.#parse = parse as Parse;
    const inFlight = responseInFlight(socket);
    if (inFlight) this.#open.push(inFlight);
    socket.off("data", this.#parse);
    // With a listener more, Node lets go of the connection's handle.
    socket.on("data", this.#onData);
    readIntoOne(socket);
    this.#keep(rest);
  }

  readonly #wake = (): void => {
    if (this.#holding && !this.#ready && !this.#mustWait) this.#ready = this.#deps.schedule(this);
  };

  #wakeAfter(outgoing: ServerResponse): void {
    if (outgoing.listenerCount("close", this.#wake) === 0) outgoing.on("close", this.#wake);
  }

  /** Requests that are not answered, or whose answers are not read. */
  get #inFlight(): number {
    const open = this.#open;
    // In their order: an answer goes out after those before it.
    while (open.length > 0 && open[0]!.closed) open.shift();
    return open.length;
  }

  /** Until one of its answers is read. */
  get #isBlocked(): boolean {
    const unread = this.#socket.writableLength > 0 || this.#unreadBytes > MOST_UNREAD_BYTES;
    const inFlight = this.#inFlight;
    return inFlight >= MOST_IN_FLIGHT || (unread && inFlight > 0);
  }

  /** The rest of a body waits for no answer: a stream of events may be the answer to it. */
  get #mustWait(): boolean {
    return this.#bodyLeft === 0 && this.#isBlocked;
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#isOver) return;
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

  /** Whether what came by itself may be parsed at once. */
  #mayBegin(bytes: Buffer): boolean {
    if (this.#holding !== undefined || this.#isPipelined(bytes)) return false;
    return this.#bodyLeft > 0 || this.#deps.mayBegin(this.#limiterKey);
  }

  get #limiterKey(): string {
    return (this.#peer ??= peerOf(this.#socket).limiterKey);
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
   * Malformed bytes followed a request that is still being answered, and the connection is paused until the answer is sent.
   * With nothing left to read, the socket's end arrives despite the pause and would close the connection before the answer.
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
    this.#parse!(piece);
    // It ended with the head.
    if (this.#begun > begun) this.#bodyLeft = declaredBytes(this.#newest!);
  }

  /** Puts bytes back into the socket's buffer, in front of newer ones. */
  #keep(rest: Buffer): void {
    const socket = this.#socket;
    if (this.#isOver || socket.destroyed) return;
    const isPaused = socket.isPaused();
    socket.pause();
    socket.unshift(rest);
    if (isPaused && this.#bodyLeft > 0) return;
    if (this.#holding === undefined) {
      this.#holding = this.#deps.hold(this);
      for (const outgoing of this.#open) this.#wakeAfter(outgoing);
    }
    this.#wake();
  }

  #release(): void {
    if (this.#holding) this.#deps.release(this.#holding);
    if (this.#ready) this.#deps.cancel(this.#ready);
    this.#holding = this.#ready = undefined;
  }
}

// Left alone, Node allocates 64 KB for each read of a connection, copies what came into a second buffer, and has both to collect.

/** As of a socket that is made with `onread`, which one that a server accepts can't be. */
interface ReadsIntoBuffer {
  readonly _handle?: { useUserBuffer?: (buffer: Buffer) => void } | null;
  [symbol: symbol]: unknown;
}

/** The stream is given a copy of what was read. A Node that has no such thing goes on as it does by itself. */
function readIntoOne(socket: Socket): void {
  const reads = socket as unknown as ReadsIntoBuffer;
  const symbols = Object.getOwnPropertySymbols(socket);
  const [buffer, called, generator] = ["kBuffer", "kBufferCb", "kBufferGen"].map((name) =>
    symbols.find(({ description }) => description === name),
  );
  const handle = reads._handle;
  if (!buffer || !called || !generator || handle?.useUserBuffer === undefined) return;
  reads[buffer] = READ;
  reads[called] = (length: number): boolean => {
    const bytes = Buffer.allocUnsafe(length);
    READ.copy(bytes, 0, 0, length);
    return socket.push(bytes);
  };
  reads[generator] = null;
  handle.useUserBuffer(READ);
}

// Finds the ends of request heads in a connection's bytes, wherever the chunks are split.

const HEAD_END = Buffer.from("\r\n\r\n");

/** Where the first head ends, of whose end `seen` bytes came before `from`; -1 where none does. */
function endOfHead(bytes: Buffer, from: number, seen: number): number {
  if (seen > 0) {
    const missing = HEAD_END.subarray(seen);
    const to = from + missing.length;
    if (to <= bytes.length && missing.equals(bytes.subarray(from, to))) return to;
  }
  // Four bytes at a time, for most are no part of an end. By `indexOf` a short head takes four times as long.
  for (let at = from + 3; at < bytes.length;) {
    const byte = bytes[at]!;
    if (byte === CR) at += 1;
    else if (byte !== LF) at += 4;
    else if (bytes[at - 1] === CR && bytes[at - 2] === LF && bytes[at - 3] === CR) return at + 1;
    else at += 2;
  }
  return -1;
}

/** Where so many lines have ended, or all of it. */
function afterLines(bytes: Buffer, from: number, lines: number): number {
  let at = from;
  for (let left = lines; left > 0; left -= 1) {
    at = bytes.indexOf(LF, at) + 1;
    if (at === 0) return bytes.length;
  }
  return at;
}

const CR = 13;
const LF = 10;

/** With how much of the end of a head `bytes` end, `seen` of it having come before them. */
function seenOfEnd(bytes: Buffer, seen: number): number {
  const { length } = bytes;
  const last = bytes[length - 1];
  if (last !== LF && last !== CR) return 0;
  // A whole one: what follows is no part of another.
  if (length > 3 && last === LF && bytes[length - 2] === CR && bytes[length - 3] === LF && bytes[length - 4] === CR)
    return 0;
  let count = length > 2 ? 0 : seen;
  for (let at = Math.max(0, length - 3); at < length; at += 1) {
    const byte = bytes[at];
    if (byte === CR) count = count === 2 ? 3 : 1;
    else if (byte === LF && (count === 1 || count === 3)) count = (count + 1) % HEAD_END.length;
    else count = 0;
  }
  return count;
}
