/**
 * Streams of features: `Route.stream` as server-sent events. They take places of the same registry as `GET /api/events`, so that the
 * limits, the beat, the end of a reader that does not read, and the shutdown are the same for all.
 */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { type Clock, type Logger, type RouteEvent, SvcError } from "@svc/contract";
import type { Device } from "@svc/store";
import { answered } from "../http/request.ts";
import { openStream, RETRY_MS } from "./sse.ts";
import { type OpenStream, STUCK_MS, type SubscriberRegistry, sseFrame } from "./subscribers.ts";

/** Whether `Accept` names server-sent events. Who takes anything gets the answer in one piece. */
export const wantsStream = ({ accept }: IncomingHttpHeaders): boolean =>
  (accept ?? "")
    .split(",")
    .some((range) => /^\s*text\/event-stream\s*(?:;(?!\s*q=0(?:\.0{0,3})?\s*$).*)?$/i.test(range));

export interface RouteStreamDeps {
  readonly subscribers: SubscriberRegistry;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface OpenedRoute {
  readonly device: Pick<Device, "id">;
  readonly path: string;
  readonly events: AsyncIterable<RouteEvent>;
  /** Aborts the signal that the feature was handed. */
  readonly gone: AbortController;
  readonly isHead: boolean;
}

/** Opens the answer and sends the events in the background. The connection's device has a place. */
export function sendEvents(
  { subscribers, clock, log }: RouteStreamDeps,
  { device, path, events, gone, isHead }: OpenedRoute,
  outgoing: ServerResponse,
): void {
  openStream(outgoing);
  answered(outgoing, 200);
  if (isHead) {
    gone.abort(GONE);
    outgoing.end();
    return;
  }
  const stream = new RouteStream(device.id, outgoing, clock, gone);
  subscribers.add(stream);
  outgoing.on("error", () => {});
  outgoing.on("close", () => subscribers.leave(stream));
  outgoing.write(`retry: ${RETRY_MS}\n\n`);
  void stream.send(events).catch((error: unknown) => {
    log.error("a stream of a feature failed", { path, cause: error instanceof Error ? error.message : "unknown" });
    outgoing.destroy();
  });
}

const GONE = new SvcError("TURN_CANCELLED", "The client closed its connection.");

class RouteStream implements OpenStream {
  readonly deviceId: string;
  readonly #outgoing: ServerResponse;
  readonly #clock: Clock;
  readonly #gone: AbortController;
  /** Since when the client has not read what was written. */
  #behindSinceMs: number | undefined;

  constructor(deviceId: string, outgoing: ServerResponse, clock: Clock, gone: AbortController) {
    this.deviceId = deviceId;
    this.#outgoing = outgoing;
    this.#clock = clock;
    this.#gone = gone;
  }

  /** Rejects with what the feature throws that is no `SvcError`. */
  async send(events: AsyncIterable<RouteEvent>): Promise<void> {
    const outgoing = this.#outgoing;
    try {
      for await (const { id, type, data } of events) {
        if (this.#isOver) return;
        if (!outgoing.write(sseFrame(id, type, JSON.stringify(data)))) await this.#read();
      }
      if (!this.#isOver) outgoing.end();
    } catch (error) {
      if (this.#isOver) return;
      if (!(error instanceof SvcError)) throw error;
      this.notice("error", { error: error.message, code: error.code });
      outgoing.end();
    }
  }

  get #isOver(): boolean {
    return this.#gone.signal.aborted || this.#outgoing.destroyed || this.#outgoing.writableEnded;
  }

  /** Resolves when the client has read what was written, or is gone. */
  async #read(): Promise<void> {
    const outgoing = this.#outgoing;
    if (outgoing.destroyed) return;
    this.#behindSinceMs = this.#clock.monotonic();
    await new Promise<void>((resolve) => {
      const over = (): void => {
        outgoing.off("drain", over).off("close", over);
        resolve();
      };
      outgoing.on("drain", over).on("close", over);
    });
    this.#behindSinceMs = undefined;
  }

  notice(type: string, payload: object): void {
    if (this.#isOver || this.#behindSinceMs !== undefined) return;
    this.#outgoing.write(`event: ${type}\ndata: ${JSON.stringify(payload)}\n\n`);
  }

  beat(): void {
    if (this.#isOver) return;
    if (this.#behindSinceMs === undefined) this.#outgoing.write(":\n\n");
    else if (this.#clock.monotonic() - this.#behindSinceMs >= STUCK_MS) this.cut();
  }

  stop(): void {
    this.#gone.abort(GONE);
  }

  end(): void {
    this.stop();
    if (this.#behindSinceMs === undefined) this.#outgoing.end();
    else this.cut();
  }

  cut(): void {
    this.#outgoing.destroy();
  }
}
