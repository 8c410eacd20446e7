/** `POST /pair`: header `X-Pairing-Code`, optional body `{"device_name"}` → 200 `{"paired":true,"token"}`. */
import type { IncomingHttpHeaders } from "node:http";
import type { Clock, Logger } from "@svc/contract";
import { parseJson, refuseContentType } from "../http/json.ts";
import { errorReply, jsonReply, replyToError, type Reply } from "../http/reply.ts";
import { SlidingWindow } from "../limits/sliding-window.ts";
import type { Client, ClientResolver } from "../net/client.ts";
import type { Peer } from "../net/peer.ts";
import type { Pairing } from "./pairing.ts";

const REQUESTS_PER_MINUTE = 10;
const BAD_NAME = errorReply("BAD_REQUEST", {
  message: 'The body, if any, must be a JSON object whose "device_name" is 1 to 64 printable characters.',
});

export class PairRoute {
  readonly #pairing: Pairing;
  readonly #clientOf: ClientResolver;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #limit = new SlidingWindow({ limit: REQUESTS_PER_MINUTE, windowMs: 60_000, maxKeys: 0 });

  constructor(pairing: Pairing, clientOf: ClientResolver, clock: Clock, log: Logger) {
    this.#pairing = pairing;
    this.#clientOf = clientOf;
    this.#clock = clock;
    this.#log = log;
  }

  /** What is decided before the body: the limit, and the content type of a body that is there. */
  admit(headers: IncomingHttpHeaders, peer: Peer, hasBody: boolean): Client | Reply {
    const client = this.#clientOf(headers, peer);
    const waitMs = this.#limit.take(client.limiterKey, this.#clock.monotonic());
    if (waitMs > 0) return errorReply("RATE_LIMITED", { retryAfterMs: waitMs });
    return (hasBody ? refuseContentType(headers) : undefined) ?? client;
  }

  /** The body is judged before the code is: a request that can't succeed must not use the code up. */
  async accept(client: Client, headers: IncomingHttpHeaders, body: Buffer): Promise<Reply> {
    const name = deviceName(body);
    if (typeof name === "object") return name;
    const code = headers["x-pairing-code"];
    try {
      const { token } = await this.#pairing.pair(typeof code === "string" ? code.trim() : "", client, name);
      return jsonReply(200, { paired: true, token });
    } catch (error) {
      const reply = replyToError(error);
      if (reply.status === 500) this.#log.error("pairing failed: the device could not be stored", whatHappened(error));
      return reply;
    }
  }
}

/** The optional name. Control characters would reach terminals that list the devices. */
function deviceName(body: Buffer): string | undefined | Reply {
  if (body.length === 0) return undefined;
  const value = parseJson(body);
  if (value === undefined) return errorReply("BAD_JSON");
  if (value === null || typeof value !== "object" || Array.isArray(value)) return BAD_NAME;
  const name = Object.hasOwn(value, "device_name") ? (value as { device_name: unknown }).device_name : undefined;
  if (name === undefined || name === null) return undefined;
  if (typeof name !== "string" || !/^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u.test(name) || name.trim() === "") return BAD_NAME;
  return name.trim();
}

function whatHappened(error: unknown): { cause: string } {
  const cause = error instanceof Error ? error.cause : undefined;
  return { cause: cause instanceof Error ? cause.message : "unknown" };
}
