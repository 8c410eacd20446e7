/** `GET /api/events`: server-sent events, written to the raw response. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { StampedEvent } from "@svc/runtime";
import * as v from "valibot";
import type { DeviceConnections, Principal } from "../auth/authenticator.ts";
import type { Check, RouteGroup } from "../pipeline.ts";
import type { RouteSpec } from "../routes/route.ts";
import {
  type SubscriberRegistry,
  type Frames,
  type EventSink,
  eventFilterFor,
  sseFrame,
  ssePosition,
} from "./subscribers.ts";

export const LAST_EVENT_ID = v.optional(
  v.pipe(v.string(), v.description("Id of the last event that the caller has: later events are sent first.")),
);

export const EVENT_STREAM_TYPE = "text/event-stream; charset=utf-8";

export const EVENTS: RouteSpec = {
  method: "GET",
  path: "/api/events",
  access: "read",
  summary: "Tells events as they happen (server-sent events).",
  details:
    'The data of each is {"id","type","timestamp","payload"}; the guide\'s page on events lists the types. An operator ' +
    "sees all events; a token with scope read sees those of its own turns, of runs and of channels' health. A client that " +
    "gets events-dropped has missed some, and must reload the state it shows.",
  headers: { "Last-Event-ID": LAST_EVENT_ID },
  answers: {
    200: { description: "The stream. It ends when the service stops.", body: v.string(), type: EVENT_STREAM_TYPE },
  },
  errors: ["DRAINING", "BUSY"],
};

/** What a reader waits before it connects again. */
export const RETRY_MS = 2_000;
const HEADERS = [
  ["content-type", EVENT_STREAM_TYPE],
  ["x-content-type-options", "nosniff"],
  ["cache-control", "no-store"],
  // nginx would keep events back until it has a few kilobytes of them.
  ["x-accel-buffering", "no"],
].flat();

const NO_TURNS: ReadonlySet<string> = new Set();

export interface EventsDeps {
  readonly subscribers: SubscriberRegistry;
  readonly connections: DeviceConnections;
}

/** 503: all subscriptions are taken, or the device's. */
export const subscriberSlot =
  (subscribers: SubscriberRegistry): Check =>
  ({ principal }) =>
    subscribers.refusal(principal!.device);

/** Streams events to the caller that `bearer` found. */
export function streamEvents(deps: EventsDeps): RouteGroup["handle"] {
  return ({ incoming, outgoing, principal }) => {
    openStream(outgoing);
    if (incoming.method === "HEAD") outgoing.end();
    else stream(deps, principal!, lastEventId(incoming.headers), outgoing);
    return undefined;
  };
}

/** Its end is the connection's: chunks would cost each event some bytes and a second write for every reader. */
export function openStream(outgoing: ServerResponse): void {
  outgoing.useChunkedEncodingByDefault = false;
  outgoing.shouldKeepAlive = false;
  outgoing.writeHead(200, HEADERS);
}

function stream(
  { subscribers, connections }: EventsDeps,
  principal: Principal,
  after: string | undefined,
  outgoing: ServerResponse,
): void {
  const { device } = principal;
  const feed = subscribers.join(device, new SseSink(outgoing, subscribers.frames), eventFilterFor(device, NO_TURNS));
  const forget = connections.open(principal, () => {
    feed.stop();
    outgoing.destroy();
  });
  // A connection is gone a moment before `close`; writes in between must not throw.
  outgoing.on("error", () => {});
  outgoing.on("drain", () => feed.drained());
  outgoing.on("close", () => {
    forget();
    subscribers.leave(feed);
  });
  // A returning client keeps its own position: sending a newer one first would lose the missed events if the connection broke.
  outgoing.write(`retry: ${RETRY_MS}\n${after === undefined ? ssePosition(feed.position) : "\n"}`);
  feed.start(after);
}

/** A repeated header is joined into an unknown id, which the client learns as dropped events. */
export const lastEventId = (headers: IncomingHttpHeaders): string | undefined => headers["last-event-id"]?.toString();

class SseSink implements EventSink {
  readonly #outgoing: ServerResponse;
  readonly #frames: Frames;

  constructor(outgoing: ServerResponse, frames: Frames) {
    this.#outgoing = outgoing;
    this.#frames = frames;
  }

  get pending(): number {
    return this.#outgoing.writableLength;
  }

  event(event: StampedEvent): void {
    this.#outgoing.write(this.#frames.sse(event));
  }

  notice(id: string, type: string, json: string): void {
    this.#outgoing.write(sseFrame(id, type, json));
  }

  beat(id: string): void {
    this.#outgoing.write(`:\n${ssePosition(id)}`);
  }

  end(): void {
    this.#outgoing.end();
  }

  cut(): void {
    this.#outgoing.destroy();
  }
}
