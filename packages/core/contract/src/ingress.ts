/**
 * A platform's public path for deliveries. Bytes in, messages out; `verify` and `parse` are pure and synchronous, the gateway
 * owns status codes and the inbox owns storage.
 */
import type { DeliveryUpdate, Inbound } from "./channel.ts";
import type { ErrorCode } from "./error-codes.ts";
import type { Json } from "./json.ts";

export interface Ingress {
  /** Literal, e.g. `/provider-a`; named in the manifest too. */
  readonly path: string;
  readonly methods: readonly IngressMethod[];
  /**
   * Whether `verify` proves who sent a delivery. If not, the start and `svc doctor` warn, and every delivery is refused while
   * `gateway.require_signatures` is on.
   */
  readonly signed: boolean;
  /** Takes only notices: a post makes the channel look for messages, and can't speak in a sender's name. */
  readonly notifies?: true;
  /** A message that says it is older than this is acknowledged, and dropped with a line in the log. */
  readonly maxAgeMs?: number;
  /** Runs before anything of the body is parsed. */
  verify(request: RawRequest): Verdict;
  /** Throws BAD_JSON, and BAD_REQUEST for a handshake that lacks something; a shape it does not know holds no messages. */
  parse(request: RawRequest): Parsed;
  /** A delivery as the platform would make it, signed from the config, for `svc webhook send` and tests. */
  sample?(message: SampleMessage): SampleDelivery;
}

export type IngressMethod = "GET" | "POST" | "PUT";

export interface RawRequest {
  readonly method: string;
  readonly query: URLSearchParams;
  /** Path and query exactly as they were sent, for platforms that sign the URL. */
  readonly target: string;
  /** Lower-case names; of a header that came twice the first. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Exactly the bytes that came. */
  readonly body: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly receivedAtMs: number;
}

export type Verdict =
  | {
      readonly ok: true;
      /** May be used once: stored with the delivery, and 401 when it was seen before. Remembered for `DEDUPE_MS`. */
      readonly once?: string;
    }
  | {
      readonly ok: false;
      /** Its status is the answer: BAD_SIGNATURE 401, UNAUTHORIZED 401, BAD_VERIFY_TOKEN 403. */
      readonly code: ErrorCode;
      /** For the log: what was wrong, without a received value. */
      readonly why: string;
    };

export interface Parsed {
  readonly inbound?: readonly Inbound[];
  readonly notices?: readonly Notice[];
  readonly updates?: readonly DeliveryUpdate[];
  /** Default: 200 `{"status":"ok"}`. */
  readonly reply?: IngressReply;
}

/** What tells of something without being a message: mail has come, a call has ended. Kept like one. */
export interface Notice {
  /** As `Inbound.id`. */
  readonly id?: string;
  /** Notices of one queue are handled one after the other. */
  readonly queue: string;
  /** Handed to `Channel.onNotice`. */
  readonly body: Json;
}

export interface IngressReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

export interface SampleMessage {
  readonly text: string;
  /** Default: a sender whom the allowlist lets in. */
  readonly from?: string;
  /** The platform's id of it. */
  readonly id: string;
  readonly atMs: number;
}

export interface SampleDelivery {
  readonly method: IngressMethod;
  /** Begins with `?`, or is empty. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}
