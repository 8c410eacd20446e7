/** `GET /api/events`: server-sent events, written to the raw response. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { StampedEvent } from "@svc/kernel";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Principal } from "../auth/principal.ts";
import type { Streams } from "../auth/streams.ts";
import type { Handle } from "../http/listener.ts";
import { Reply } from "../http/reply.ts";
import type { ClientResolver } from "../net/client.ts";
import type { Crowd } from "./crowd.ts";
import { type Frames, sseFrame, ssePosition } from "./frames.ts";
import type { Outlet } from "./outlet.ts";
import { sightOf } from "./sight.ts";
import { EVENT_STREAM_TYPE } from "./specs.ts";

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
