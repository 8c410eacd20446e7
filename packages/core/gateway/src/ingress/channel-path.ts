/**
 * One public path of a channel. The order of checks is part of the interface:
 *
 *   handle  method 405 → draining 503 → in service 503
 *   (the body is read: size 413)
 *   answer  signature 401, 403 → UTF-8 and JSON 400 → kept on disk → once 401 → 200
 *
 * A platform takes 200 as "yours now" and anything else as "again, please": 200 is said only of what is on disk, or will
 * never be wanted.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock, Parsed, RawRequest } from "@svc/contract";
import type { Ongoing, RegisteredIngress } from "@svc/kernel";
import type { Arrival } from "@svc/store";
import { readBody } from "../http/body.ts";
import type { MemoryRoom } from "../http/memory-room.ts";
import { allowHeader, notAllowed } from "../http/listener.ts";
import { errorReply, jsonReply, optionsReply, Reply } from "../http/reply.ts";
import type { Send } from "../http/send.ts";
import { NO_ROOM } from "../http/with-body.ts";
import { messageEvents } from "../sop-paths/message-events.ts";
import type { GatewayDeps } from "../types.ts";
import { arrivalOf } from "./arrival.ts";
import { ReceivedRequest } from "./received-request.ts";
import { CHANNEL_DOWN, type Refusals } from "./refusals.ts";

export interface ChannelPathDeps {
  readonly inbox: GatewayDeps["inbox"];
  readonly sops: GatewayDeps["sops"];
  readonly isUp: GatewayDeps["isUp"];
  readonly isDraining: () => boolean;
  readonly requireSignatures: boolean;
  readonly maxBodyBytes: number;
  readonly bodyRoom: MemoryRoom;
  /** The channel's feature is in use as long as anything goes on. */
  readonly ongoing: Ongoing;
  readonly refusals: Refusals;
  readonly send: Send;
  readonly clock: Clock;
}

const EMPTY = Buffer.alloc(0);
const OK = jsonReply(200, { status: "ok" });

export class ChannelPath {
  readonly #way: RegisteredIngress;
  readonly #deps: ChannelPathDeps;
  readonly #methods: ReadonlySet<string>;
  readonly #options: Reply;
  readonly #notAllowed: Reply;

  constructor(way: RegisteredIngress, deps: ChannelPathDeps) {
    const { methods } = way.ingress;
    this.#way = way;
    this.#deps = deps;
    this.#methods = new Set<string>(methods.includes("GET") ? [...methods, "HEAD"] : methods);
    const allow = allowHeader([...this.#methods]);
    this.#options = optionsReply(allow);
    this.#notAllowed = notAllowed(allow);
  }

  /** Answers at once, or sends later. */
  handle(incoming: IncomingMessage, outgoing: ServerResponse): Reply | undefined {
    const method = incoming.method!;
    if (!this.#methods.has(method)) return method === "OPTIONS" ? this.#options : this.#notAllowed;
    const isHandshake = method === "GET" || method === "HEAD";
    if (!isHandshake && this.#deps.isDraining()) return errorReply("DRAINING");
    if (!this.#deps.isUp(this.#way.feature)) return CHANNEL_DOWN;
    void this.#receive(incoming, outgoing, isHandshake);
    return undefined;
  }

  /** Never rejects. A handshake has no body; one that comes with it is dropped. */
  async #receive(incoming: IncomingMessage, outgoing: ServerResponse, isHandshake: boolean): Promise<void> {
    const { maxBodyBytes, bodyRoom, ongoing, refusals, send } = this.#deps;
    ongoing.begin();
    try {
      const body = isHandshake ? EMPTY : await readBody(incoming, outgoing, maxBodyBytes, bodyRoom);
      if (body === "gone") return;
      if (body === "too-large") send(incoming, outgoing, errorReply("TOO_LARGE"));
      else if (body === "no-room") send(incoming, outgoing, NO_ROOM);
      else send(incoming, outgoing, await this.#answer(incoming, body, isHandshake));
    } catch (error) {
      send(incoming, outgoing, refusals.broken(error));
    } finally {
      ongoing.end();
    }
  }

  async #answer(incoming: IncomingMessage, body: Buffer, isHandshake: boolean): Promise<Reply> {
    const { requireSignatures, refusals, inbox, sops, isDraining, clock } = this.#deps;
    if (requireSignatures && !isHandshake && !this.#way.ingress.signed) return refusals.unsigned();
    // HEAD is GET whose answer is not wanted whole.
    const method = isHandshake ? "GET" : incoming.method!;
    const delivery = this.#read(new ReceivedRequest(incoming, method, body, clock.now()));
    if (delivery instanceof Reply) return delivery;
    if (delivery.arrival === undefined) return delivery.reply;
    // The shutdown may have begun while the body came in.
    if (isDraining()) return errorReply("DRAINING");
    try {
      const { state } = await inbox.accept(delivery.arrival, messageEvents(sops, this.#way.ingress.path));
      return state === "replayed" ? refusals.replayed() : delivery.reply;
    } catch (error) {
      return refusals.notKept(error);
    }
  }

  /** Whose it is, then what is in it. */
  #read(request: RawRequest): Delivery | Reply {
    const { channel, ingress } = this.#way;
    const { refusals } = this.#deps;
    let isProven = false;
    try {
      const verdict = atOnce(ingress.verify(request));
      if (!verdict.ok) return refusals.forged(verdict);
      isProven = true;
      const parsed = this.#fresh(atOnce(ingress.parse(request)), request.receivedAtMs);
      const { reply } = parsed;
      return {
        arrival: arrivalOf(channel, parsed, verdict.once),
        reply: reply ? new Reply(reply.status, reply.contentType, reply.body) : OK,
      };
    } catch (error) {
      return isProven ? refusals.unread(error) : refusals.broken(error);
    }
  }

  /** Without what says that it is older than the ids of messages are remembered: nobody could tell it from a replay. */
  #fresh(parsed: Parsed, nowMs: number): Parsed {
    const { maxAgeMs = Infinity } = this.#way.ingress;
    const inbound = parsed.inbound?.filter(({ sentAtMs = nowMs }) => !(nowMs - sentAtMs > maxAgeMs));
    const dropped = (parsed.inbound?.length ?? 0) - (inbound?.length ?? 0);
    if (inbound === undefined || dropped === 0) return parsed;
    this.#deps.refusals.tooOld(dropped);
    return { ...parsed, inbound };
  }
}

interface Delivery {
  readonly arrival: Arrival | undefined;
  readonly reply: Reply;
}

/** A promise would be taken for a delivery with nothing in it, and its rejection would end the process. */
function atOnce<Result extends object>(result: Result): Result {
  if (!("then" in result)) return result;
  void Promise.resolve(result).catch(() => undefined);
  throw new TypeError("verify() and parse() must be synchronous");
}
