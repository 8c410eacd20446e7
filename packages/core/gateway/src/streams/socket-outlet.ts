/** A WebSocket, as a feed and a chat write to it. */
import type { Socket } from "node:net";
import type { StampedEvent } from "@svc/kernel";
import type { WebSocket } from "ws";
import type { Chat } from "./chat.ts";
import type { Crowd } from "./crowd.ts";
import type { Frames } from "./frames.ts";
import type { Outlet } from "./outlet.ts";

/** Of RFC 6455: the service goes away. */
const GOING_AWAY = 1001;
/** Who asks for answers and has not read so many times what an event may wait behind is cut. */
const UNREAD_FACTOR = 4;

export class SocketOutlet implements Outlet {
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
    { frames, behindBytes }: Pick<Crowd, "frames" | "behindBytes">,
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
