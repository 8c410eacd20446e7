/** One WebSocket: events out, chat in and out. */
import type { Socket } from "node:net";
import type { Clock } from "@svc/contract";
import type { StampedEvent } from "@svc/runtime";
import { parseJson } from "@svc/kit";
import * as v from "valibot";
import type { WebSocket } from "ws";
import type { DeviceConnections, Principal } from "../auth/authenticator.ts";
import type { MemoryBudget, MemoryHolder } from "../http/request.ts";
import { errorReply, Reply } from "../http/reply.ts";
import { SessionId, WebhookMessage } from "@svc/api";
import type { Chat } from "./chat.ts";
import { type SubscriberRegistry, type Feed, type Frames, type EventSink, eventFilterFor } from "./subscribers.ts";

/** RFC 6455: the client violates the policy. */
const POLICY = 1008;
/** Time for a client to send its last event id, before the first event. */
const RESUME_MS = 1_000;
/** How long a client may take to close the connection when asked to. */
const LEAVE_MS = 1_000;

/** Header of a client's frame: two bytes and the mask. */
const FRAME_BYTES = 6;
/** Each piece that comes in is an object, however small it is. */
const PIECE_BYTES = 256;
/** Messages of one connection that are handled in one turn of the event loop. */
const PER_TURN = 64;
/** Below this nothing is counted: most messages come in one piece. */
const SMALL_BYTES = 8_192;

const RESUMED = errorReply("BAD_REQUEST", { message: '"resume" comes once.' });

export interface SocketDeps {
  readonly subscribers: SubscriberRegistry;
  readonly connections: DeviceConnections;
  readonly clock: Clock;
  readonly chat: Chat;
  readonly principal: Principal;
  /** For messages that have no end yet. */
  readonly messageMemory: MemoryBudget;
  /** What the client says it has seen. */
  readonly after: string | undefined;
}

export function serveSocket(ws: WebSocket, socket: Socket, deps: SocketDeps): void {
  const { subscribers, connections, principal, chat, clock } = deps;
  const sink = new SocketSink(ws, socket, subscribers, chat);
  const feed = subscribers.join(principal.device, sink, eventFilterFor(principal.device, chat.begun));
  const session = new SocketSession(sink, feed, chat);
  let cancelCut = (): void => {};
  const leaving = (): void => {
    feed.stop();
    session.end();
    cancelCut();
    cancelCut = clock.after(LEAVE_MS, () => sink.cut());
  };
  const forget = connections.open(principal, (why) => {
    ws.close(POLICY, why === "revoked" ? "This device was revoked." : "The page was signed out.");
    leaving();
  });
  const cancelStart = deps.after === undefined ? clock.after(RESUME_MS, () => session.begin()) : () => {};
  if (deps.after !== undefined) session.begin(deps.after);
  socket.on("drain", () => feed.drained());
  const unparsed = new UnparsedBytes(deps.messageMemory, () => sink.cut());
  socket.on("data", (bytes: Buffer) => unparsed.received(bytes.length));
  const turns = new MessageTurns(ws, (data, isBinary) => session.heard(data, isBinary));
  ws.on("message", (data: Buffer, isBinary) => {
    unparsed.heard(data.length);
    turns.take(data, isBinary);
  });
  ws.on("ping", (data) => unparsed.heard(data.length));
  ws.on("pong", (data) => {
    unparsed.heard(data.length);
    sink.alive();
  });
  // A protocol violation or an oversized frame: the library has closed the socket with its own code.
  ws.on("error", leaving);
  ws.on("close", () => {
    cancelStart();
    cancelCut();
    unparsed.end();
    forget();
    session.end();
    subscribers.leave(feed);
  });
}

/** A few messages in each turn of the event loop: the 64 KB of one read hold eight thousand. */
class MessageTurns {
  readonly #ws: WebSocket;
  readonly #hear: (data: Buffer, isBinary: boolean) => void;
  #waiting: (readonly [Buffer, boolean])[] = [];
  #left = PER_TURN;
  #isScheduled = false;

  constructor(ws: WebSocket, hear: (data: Buffer, isBinary: boolean) => void) {
    this.#ws = ws;
    this.#hear = hear;
  }

  take(data: Buffer, isBinary: boolean): void {
    if (!this.#isScheduled) setImmediate(this.#turn);
    this.#isScheduled = true;
    if (this.#left > 0) {
      this.#left -= 1;
      this.#hear(data, isBinary);
      return;
    }
    // What was read already still comes, and no more.
    if (this.#waiting.length === 0) this.#ws.pause();
    this.#waiting.push([data, isBinary]);
  }

  readonly #turn = (): void => {
    const now = this.#waiting.slice(0, PER_TURN);
    this.#waiting = this.#waiting.slice(PER_TURN);
    this.#left = PER_TURN - now.length;
    for (const [data, isBinary] of now) this.#hear(data, isBinary);
    this.#isScheduled = now.length > 0;
    if (this.#isScheduled) setImmediate(this.#turn);
    if (now.length > 0 && this.#waiting.length === 0) this.#ws.resume();
  };
}

/** What has come in and is no message yet: a client may hold back the end of a mebibyte on each connection that it may open. */
class UnparsedBytes {
  readonly #memory: MemoryBudget;
  readonly #cut: () => void;
  #bytes = 0;
  #pieces = 0;
  #place: MemoryHolder | undefined;

  constructor(memory: MemoryBudget, cut: () => void) {
    this.#memory = memory;
    this.#cut = cut;
  }

  received(bytes: number): void {
    this.#bytes += bytes;
    this.#pieces += 1;
    const held = this.#bytes + this.#pieces * PIECE_BYTES;
    if (held > SMALL_BYTES) this.#memory.hold((this.#place ??= this.#memory.join(this.#cut)), held);
  }

  /** A whole message or a sign of life. */
  heard(length: number): void {
    const sizeBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
    this.#bytes = Math.max(0, this.#bytes - length - sizeBytes - FRAME_BYTES);
    this.#pieces = 0;
    if (this.#bytes <= SMALL_BYTES) this.end();
  }

  end(): void {
    if (this.#place) this.#memory.leave(this.#place);
    this.#place = undefined;
  }
}

/** Reads the client's frames and answers them. */
class SocketSession {
  readonly #sink: SocketSink;
  readonly #feed: Feed;
  readonly #chat: Chat;
  #hasBegun = false;
  #hasResumed = false;
  #isOver = false;

  constructor(sink: SocketSink, feed: Feed, chat: Chat) {
    this.#sink = sink;
    this.#feed = feed;
    this.#chat = chat;
  }

  /** Starts sending events: from the connection's first moment, or after the event that the client saw last. */
  begin(after?: string): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#feed.start(after);
  }

  end(): void {
    this.#isOver = true;
  }

  heard(data: Buffer, isBinary: boolean): void {
    if (this.#isOver) return;
    this.#sink.alive();
    const frame = clientFrame(data, isBinary);
    if (frame instanceof Reply) this.#refuse(frame);
    else if (frame.type === "message") this.#chatted(frame.content, frame.session);
    else this.#resume(frame.after);
  }

  /** A client that resumes late has seen the events since; it gets some of them again. */
  #resume(after: string | undefined): void {
    if (this.#hasResumed) {
      this.#refuse(RESUMED);
      return;
    }
    this.#hasBegun = this.#hasResumed = true;
    this.#feed.start(after);
  }

  #chatted(content: string, session: string | undefined): void {
    // The client must see the events of its own message, so start without waiting for `resume`.
    this.begin();
    const refusal = this.#chat.refusal();
    if (refusal) {
      this.#refuse(refusal, session);
      return;
    }
    void this.#chat.answer({ content, session }).then((answer) => {
      if (answer instanceof Reply) this.#refuse(answer, session);
      else this.#sink.say(answer);
      this.#sink.answered();
    });
  }

  #refuse({ body }: Reply, session?: string): void {
    const refusal = {
      type: "error",
      ...(JSON.parse(String(body)) as object),
      ...(session !== undefined && { session_id: session }),
    };
    this.#sink.say(refusal);
  }
}

// A WebSocket, as a feed and a chat write to it.

/** Of RFC 6455: the service goes away. */
const GOING_AWAY = 1001;
/** Who asks for answers and has not read so many times what an event may wait behind is cut. */
const UNREAD_FACTOR = 4;

class SocketSink implements EventSink {
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  readonly #frames: Frames;
  readonly #chat: Pick<Chat, "isIdle">;
  readonly #behindBytes: () => number;
  #beats = 0;
  #isAlive = true;
  #isEnding = false;

  constructor(
    ws: WebSocket,
    socket: Socket,
    { frames, behindBytes }: Pick<SubscriberRegistry, "frames" | "behindBytes">,
    chat: Pick<Chat, "isIdle">,
  ) {
    this.#ws = ws;
    this.#socket = socket;
    this.#frames = frames;
    this.#behindBytes = behindBytes;
    this.#chat = chat;
  }

  get pending(): number {
    return this.#socket.writableLength;
  }

  event(event: StampedEvent): void {
    this.#ws.send(this.#frames.text(event), { binary: false });
  }

  notice(_id: string, _type: string, json: string): void {
    this.#ws.send(json);
  }

  /** An answer to the client. */
  say(frame: object): void {
    // Looked at before: one answer may be long.
    if (this.pending > UNREAD_FACTOR * this.#behindBytes()) this.cut();
    else this.#ws.send(JSON.stringify(frame));
  }

  /** The other side has shown that it is there. */
  alive(): void {
    this.#isAlive = true;
  }

  /** Every second time a ping; who has not answered the one before is gone. */
  beat(): void {
    this.#beats += 1;
    if (this.#beats % 2 === 1) return;
    if (!this.#isAlive) {
      this.cut();
      return;
    }
    this.#isAlive = false;
    this.#ws.ping();
  }

  end(): void {
    this.#isEnding = true;
    this.answered();
  }

  /** An answer was given; the last of them was waited for. */
  answered(): void {
    if (this.#isEnding && this.#chat.isIdle) this.#ws.close(GOING_AWAY, "The service is shutting down.");
  }

  cut(): void {
    this.#ws.terminate();
  }
}

// What a client may say on a WebSocket.

export type ClientFrame =
  | { readonly type: "message"; readonly content: string; readonly session: string | undefined }
  | { readonly type: "resume"; readonly after: string | undefined };

const FRAME = v.object({ type: v.string() });
const CONTENT = WebhookMessage.entries.message;
const SESSION = v.nullish(SessionId);

const NO_CONTENT = errorReply("BAD_BODY", { message: 'A message needs a non-blank string "content".' });
const BAD_SESSION = errorReply("BAD_SESSION_ID", {
  message: "session_id must be 1 to 128 characters of A-Z a-z 0-9 . _ and -.",
});
const BAD_RESUME = errorReply("BAD_REQUEST", { message: "last_event_id must be the id of an event." });
const BAD_TYPE = errorReply("BAD_REQUEST", { message: 'Each frame is an object with "type": "message" or "resume".' });
const BINARY = errorReply("BAD_REQUEST", { message: "Only text frames are understood." });

/** Never quotes what was sent. Other fields are ignored, as in `POST /webhook`. */
export function clientFrame(data: Buffer, isBinary: boolean): ClientFrame | Reply {
  if (isBinary) return BINARY;
  const value = parseJson(data);
  if (value === undefined) return errorReply("BAD_JSON");
  if (!v.is(FRAME, value)) return BAD_TYPE;
  if (value.type === "message") return messageFrame(value);
  return value.type === "resume" ? resumeFrame(value) : BAD_TYPE;
}

function messageFrame(value: object): ClientFrame | Reply {
  const { content, session_id: session } = value as Readonly<Record<string, unknown>>;
  if (!v.is(CONTENT, content)) return NO_CONTENT;
  if (!v.is(SESSION, session)) return BAD_SESSION;
  return { type: "message", content, session: session ?? undefined };
}

function resumeFrame(value: object): ClientFrame | Reply {
  const { last_event_id: after } = value as Readonly<Record<string, unknown>>;
  return after === undefined || after === null || typeof after === "string"
    ? { type: "resume", after: after ?? undefined }
    : BAD_RESUME;
}
