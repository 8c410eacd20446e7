/** `GET /api/events`: server-sent events, written to the raw response. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { StampedEvent } from "@svc/kernel";
import * as v from "valibot";
import type { Authenticator, Principal } from "../auth/authenticator.ts";
import type { Streams } from "../auth/device-connections.ts";
import type { Handle } from "../http/listener.ts";
import { Reply } from "../http/reply.ts";
import type { ClientResolver } from "../middleware/client.ts";
import type { RouteSpec } from "../routes/route.ts";
import { type Crowd, type Frames, type Outlet, sightOf, sseFrame, ssePosition } from "./subscribers.ts";

// The routes of streams as data.

const LAST_EVENT_ID = v.optional(
  v.pipe(v.string(), v.description("Id of the last event that the caller has: what came after it is told first.")),
);

const EVENT_STREAM_TYPE = "text/event-stream; charset=utf-8";

export const EVENTS: RouteSpec = {
  method: "GET",
  path: "/api/events",
  access: "read",
  summary: "Tells events as they happen (server-sent events).",
  details:
    'The data of each is {"id","type","timestamp","payload"}; the guide\'s page on events lists the types. An operator ' +
    "is told all of them; a token that may only read, those of its own turns, of runs and of channels' health. Who is " +
    "told events-dropped has missed some, and reads anew what it shows.",
  headers: { "Last-Event-ID": LAST_EVENT_ID },
  answers: {
    200: { description: "The stream. It ends when the service stops.", body: v.string(), type: EVENT_STREAM_TYPE },
  },
  errors: ["DRAINING", "BUSY"],
};

export const SOCKET: RouteSpec = {
  method: "GET",
  path: "/ws",
  access: "connect",
  summary: "Opens a WebSocket: the same events, and chat.",
  details:
    "Offer the protocol svc.v1, and beside it bearer.<token> where no Authorization header can be sent. Events are text " +
    'frames as on /api/events. The client may send {"type":"message","content","session_id"?}, answered by a frame ' +
    '{"type":"reply","response","model","session_id"} or {"type":"error","code","error"}, for operators with "fix" and "said", and once ' +
    '{"type":"resume","last_event_id"?}. Messages count for the limit of POST /webhook.',
  headers: {
    "Sec-WebSocket-Protocol": v.optional(
      v.pipe(v.string(), v.description("svc.v1, and where needed bearer.<token> or csrf.<value>.")),
    ),
    "Last-Event-ID": LAST_EVENT_ID,
  },
  answers: { 101: { description: "It is open." } },
  errors: ["UPGRADE_REQUIRED", "DRAINING", "BUSY", "INTERNAL"],
};

/** What a reader waits before it connects again. */
const RETRY_MS = 2_000;
const HEADERS = [
  ["content-type", EVENT_STREAM_TYPE],
  ["x-content-type-options", "nosniff"],
  ["cache-control", "no-store"],
  // nginx would keep events back until it has a few kilobytes of them.
  ["x-accel-buffering", "no"],
].flat();

const NO_TURNS: ReadonlySet<string> = new Set();

export interface EventsDeps {
  readonly crowd: Crowd;
  readonly authenticator: Authenticator;
  readonly clientOf: ClientResolver;
  readonly streams: Streams;
}

export function eventsHandler(deps: EventsDeps): Handle {
  const { crowd, authenticator, clientOf } = deps;
  return (incoming, outgoing, peer) => {
    const { headers } = incoming;
    const principal = authenticator.require(headers, clientOf(headers, peer), "read");
    if (principal instanceof Reply) return principal;
    const refused = crowd.refusal(principal.device);
    if (refused) return refused;
    openStream(outgoing);
    if (incoming.method === "HEAD") outgoing.end();
    else stream(deps, principal, lastEventId(headers), outgoing);
    return undefined;
  };
}

/** Its end is the connection's: chunks would cost each event some bytes and a second write for every reader. */
function openStream(outgoing: ServerResponse): void {
  outgoing.useChunkedEncodingByDefault = false;
  outgoing.shouldKeepAlive = false;
  outgoing.writeHead(200, HEADERS);
}

function stream(
  { crowd, streams }: EventsDeps,
  principal: Principal,
  after: string | undefined,
  outgoing: ServerResponse,
): void {
  const { device } = principal;
  const feed = crowd.join(device, new SseOutlet(outgoing, crowd.frames), sightOf(device, NO_TURNS));
  const forget = streams.open(principal, () => {
    feed.stop();
    outgoing.destroy();
  });
  // The connection is gone a moment before it says so; what is written meanwhile goes nowhere.
  outgoing.on("error", () => {});
  outgoing.on("drain", () => feed.drained());
  outgoing.on("close", () => {
    forget();
    crowd.leave(feed);
  });
  // Who comes back stands where it says: moved on before it is told what it missed, it would lose that with the connection.
  outgoing.write(`retry: ${RETRY_MS}\n${after === undefined ? ssePosition(feed.position) : "\n"}`);
  feed.start(after);
}

/** Of two, one is somebody else's; together they are no id, and that is told. */
export const lastEventId = (headers: IncomingHttpHeaders): string | undefined => headers["last-event-id"]?.toString();

class SseOutlet implements Outlet {
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
