/**
 * Paths that the platforms of channels call. The order of checks is part of the interface:
 *
 *   method 405 → draining 503 → in service 503 → body: size 413 → signature 401, 403 → UTF-8 and JSON 400 → stored → once 401 → 200
 *
 * A platform stops retrying after 200 and retries after anything else. So 200 is sent only for a delivery that is stored, or
 * that will never be needed.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Messaging, newMessageOf } from "@svc/messaging";
import {
  type CatalogueEntry,
  type Clock,
  DEDUPE_MS,
  type ErrorCode,
  type Logger,
  type Notice,
  type Parsed,
  type RawRequest,
  SvcError,
  type Verdict,
} from "@svc/contract";
import type { Ongoing, RegisteredIngress } from "@svc/runtime";
import type { Sops } from "@svc/sop";
import type { Arrival, NewMessage } from "@svc/store";
import { MEMORY_FULL, type MemoryBudget, queryOf, readBody } from "../http/request.ts";
import type { Handle } from "../pipeline.ts";
import { allowHeader, errorReply, jsonReply, notAllowed, optionsReply, Reply, replyToError } from "../http/reply.ts";
import type { Send } from "../http/send.ts";
import { messageEvents } from "../sop-events.ts";
import type { ThrottledLog } from "../client.ts";

export interface ChannelPathsDeps extends Omit<ChannelPathDeps, "refusals"> {
  /** Those of channels that are configured. */
  readonly ingress: readonly RegisteredIngress[];
  /** By path, those of all channels there are. */
  readonly ingressPaths: ReadonlyMap<string, IngressPath>;
  readonly throttledLog: ThrottledLog;
  readonly log: Logger;
}

/** `taken`: core's own. Throws FEATURE_CONFLICT naming every path that is one of those, or is claimed twice. */
export function channelPaths(deps: ChannelPathsDeps, taken: readonly string[]): ReadonlyMap<string, Handle> {
  const { ingress, ingressPaths, throttledLog, log, isUp } = deps;
  checkClaims(ingress, taken);
  const unconfigured = Array.from(ingressPaths, ([path, owner]) => [path, nothingAt(owner, isUp)] as const);
  const configured = ingress.map((registered) => {
    const channel = new ChannelPath(registered, { ...deps, refusals: new Refusals(registered, throttledLog, log) });
    const handle: Handle = (incoming, outgoing) => channel.handle(incoming, outgoing);
    return [registered.ingress.path, handle] as const;
  });
  const free = unconfigured.filter(([path]) => !taken.includes(path));
  return new Map([...free, ...configured]);
}

function checkClaims(ingress: readonly RegisteredIngress[], taken: readonly string[]): void {
  const known = new Set(taken);
  const problems: string[] = [];
  for (const { feature, ingress: claimed } of ingress) {
    if (known.has(claimed.path)) problems.push(`${claimed.path} of ${feature} is taken`);
    known.add(claimed.path);
  }
  if (problems.length > 0) throw new SvcError("FEATURE_CONFLICT", `${problems.join("; ")}.`);
}

/** A channel that is configured and could not even be registered is down, not missing: its platform shall try again. */
function nothingAt({ feature, title }: IngressPath, isUp: ChannelPathDeps["isUp"]): Handle {
  const missing = errorReply("NOT_CONFIGURED", { message: `${title} not configured` });
  return () => (isUp(feature) ? missing : CHANNEL_DOWN);
}

export interface ChannelPathDeps {
  readonly inbox: Pick<Messaging, "accept">;
  readonly sops: Pick<Sops, "hasPath" | "dispatchIn">;
  /** False: the channel's feature is on and gave up. */
  readonly isUp: (feature: string) => boolean;
  readonly isDraining: () => boolean;
  readonly requireSignatures: boolean;
  readonly maxBodyBytes: number;
  readonly bodyMemory: MemoryBudget;
  /** The channel's feature is in use as long as anything goes on. */
  readonly ongoing: Ongoing;
  readonly refusals: Refusals;
  readonly send: Send;
  readonly clock: Clock;
}

const EMPTY = Buffer.alloc(0);
const OK = jsonReply(200, { status: "ok" });

class ChannelPath {
  readonly #registered: RegisteredIngress;
  readonly #deps: ChannelPathDeps;
  readonly #methods: ReadonlySet<string>;
  readonly #options: Reply;
  readonly #notAllowed: Reply;

  constructor(registered: RegisteredIngress, deps: ChannelPathDeps) {
    const { methods } = registered.ingress;
    this.#registered = registered;
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
    if (!this.#deps.isUp(this.#registered.feature)) return CHANNEL_DOWN;
    void this.#receive(incoming, outgoing, isHandshake);
    return undefined;
  }

  /** Never rejects. A handshake has no body; one that comes with it is dropped. */
  async #receive(incoming: IncomingMessage, outgoing: ServerResponse, isHandshake: boolean): Promise<void> {
    const { maxBodyBytes, bodyMemory, ongoing, refusals, send } = this.#deps;
    ongoing.begin();
    try {
      const body = isHandshake ? EMPTY : await readBody(incoming, outgoing, maxBodyBytes, bodyMemory);
      if (body === "gone") return;
      if (body === "too-large") send(incoming, outgoing, errorReply("TOO_LARGE"));
      else if (body === "memory-full") send(incoming, outgoing, MEMORY_FULL);
      else send(incoming, outgoing, await this.#answer(incoming, body, isHandshake));
    } catch (error) {
      send(incoming, outgoing, refusals.broken(error));
    } finally {
      ongoing.end();
    }
  }

  async #answer(incoming: IncomingMessage, body: Buffer, isHandshake: boolean): Promise<Reply> {
    const { requireSignatures, refusals, inbox, sops, isDraining, clock } = this.#deps;
    if (requireSignatures && !isHandshake && !this.#registered.ingress.signed) return refusals.unsigned();
    // HEAD is GET whose answer is not wanted whole.
    const method = isHandshake ? "GET" : incoming.method!;
    const delivery = this.#read(new ReceivedRequest(incoming, method, body, clock.now()));
    if (delivery instanceof Reply) return delivery;
    if (delivery.arrival === undefined) return delivery.reply;
    // The shutdown may have begun while the body came in.
    if (isDraining()) return errorReply("DRAINING");
    try {
      const { state } = await inbox.accept(delivery.arrival, messageEvents(sops, this.#registered.ingress.path));
      return state === "replayed" ? refusals.replayed() : delivery.reply;
    } catch (error) {
      return refusals.notKept(error);
    }
  }

  /** Verifies the sender, then parses the delivery. */
  #read(request: RawRequest): Delivery | Reply {
    const { channel, ingress } = this.#registered;
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

  /** Drops messages older than the remembered message ids: they can't be told from a replay. */
  #fresh(parsed: Parsed, nowMs: number): Parsed {
    const { maxAgeMs = Infinity } = this.#registered.ingress;
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

// Refused deliveries: the platform gets the code, the operator a throttled log line.

const CHANNEL_DOWN = errorReply("CHANNEL_DOWN", { retryAfterMs: 60_000 });
/** The wording that platforms of bearer tokens are used to. */
const UNAUTHORIZED = errorReply("UNAUTHORIZED", { message: "Unauthorized" });

/** What `parse` may throw. */
const OF_PARSING: ReadonlySet<ErrorCode> = new Set(["BAD_JSON", "BAD_REQUEST"]);

class Refusals {
  readonly #fields: { readonly channel: string; readonly path: string };
  readonly #lines: ThrottledLog;
  readonly #log: Logger;

  /** `lines`: of all paths; they outlive a reload. */
  constructor({ channel, ingress }: RegisteredIngress, lines: ThrottledLog, log: Logger) {
    this.#fields = { channel, path: ingress.path };
    this.#lines = lines;
    this.#log = log;
  }

  /** It is not proven who sent it. */
  forged({ code, why }: Extract<Verdict, { ok: false }>): Reply {
    this.#warn("deliveries were refused: nothing proves who sent them", { code, why });
    return code === "UNAUTHORIZED" ? UNAUTHORIZED : errorReply(code);
  }

  replayed(): Reply {
    return this.forged({ ok: false, code: "BAD_SIGNATURE", why: "what may be used once was used before" });
  }

  unsigned(): Reply {
    const why = "gateway.require_signatures is on, and this channel has no secret to check deliveries with";
    return this.forged({ ok: false, code: "BAD_SIGNATURE", why });
  }

  /** The channel says that it can't be read, or is broken itself. */
  unread(error: unknown): Reply {
    return error instanceof SvcError && OF_PARSING.has(error.code) ? replyToError(error) : this.broken(error);
  }

  /** Anything may be in what was thrown; the place it was thrown at tells enough. */
  broken(error: unknown): Reply {
    this.#warn("a channel failed on deliveries: they were not kept", placeOf(error));
    return errorReply("INTERNAL");
  }

  notKept(error: unknown): Reply {
    const { code } = error instanceof SvcError ? error : { code: "INTERNAL" };
    this.#warn("deliveries could not be stored; senders are asked to retry", { code });
    return replyToError(error);
  }

  /** Not refused: acknowledged, or the platform would send them again and again. */
  tooOld(messages: number): void {
    this.#warn("messages were dropped: they say that they are older than their channel takes", {}, messages);
  }

  #warn(message: string, fields: { readonly [name: string]: string | undefined }, times = 1): void {
    const since = this.#lines.note(`${this.#fields.path} ${message}`, times);
    if (since > 0) this.#log.warn(message, { ...this.#fields, ...fields, times: since });
  }
}

function placeOf(error: unknown): { readonly threw: string; readonly at: string | undefined } {
  if (!(error instanceof Error)) return { threw: typeof error, at: undefined };
  const at = /^[ \t]+at (.+)$/m.exec(error.stack ?? "")?.[1];
  return { threw: error instanceof SvcError ? error.code : error.constructor.name, at };
}

// What a channel made of a delivery, as it is kept.

/**
 * Undefined when there is nothing to store. `once`: from the verdict. It is consumed even by a delivery without a message:
 * otherwise a recorded delivery would become valid once its sender is on the list.
 */
export function arrivalOf(channel: string, parsed: Parsed, once: string | undefined): Arrival | undefined {
  const { inbound = [], notices = [], updates = [] } = parsed;
  if (inbound.length + notices.length + updates.length === 0 && once === undefined) return undefined;
  return {
    channel,
    messages: [...inbound.map(newMessageOf), ...notices.map((notice) => noticeOf(channel, notice))],
    ...(once !== undefined && { once }),
    ...(updates.length > 0 && { updates }),
  };
}

function noticeOf(channel: string, { id, queue, body }: Notice): NewMessage {
  return {
    kind: "notice",
    conversationKey: JSON.stringify({ notice: [channel, queue] }),
    body,
    // Apart from the ids of messages: one that the platform gives to both is not a duplicate.
    ...(id !== undefined && { dedupe: { key: `notice ${id}`, forMs: DEDUPE_MS } }),
  };
}

// A delivery as it is handed to a channel. Query and headers are taken apart only for those who look at them.

export class ReceivedRequest implements RawRequest {
  readonly method: string;
  readonly body: Uint8Array;
  readonly receivedAtMs: number;
  readonly #incoming: IncomingMessage;
  #query: URLSearchParams | undefined;
  #headers: RawRequest["headers"] | undefined;

  constructor(incoming: IncomingMessage, method: string, body: Uint8Array, receivedAtMs: number) {
    this.#incoming = incoming;
    this.method = method;
    this.body = body;
    this.receivedAtMs = receivedAtMs;
  }

  get query(): URLSearchParams {
    return (this.#query ??= queryOf(this.#incoming));
  }

  get target(): string {
    return this.#incoming.url ?? "/";
  }

  get headers(): RawRequest["headers"] {
    return (this.#headers ??= firstOfEach(this.#incoming.rawHeaders));
  }
}

/** Node joins repeated headers, so that "a, b" would be a value that the sender never sent. */
function firstOfEach(raw: readonly string[]): RawRequest["headers"] {
  const headers: Record<string, string> = Object.create(null);
  for (let index = 0; index < raw.length; index += 2) headers[raw[index]!.toLowerCase()] ??= raw[index + 1]!;
  return headers;
}

// The paths of channels, reserved whether or not this build has the channel. A platform that calls a channel without
// configuration gets an answer that names the missing setting.

export interface IngressPath {
  readonly feature: string;
  /** For a person, e.g. `Provider A`. */
  readonly title: string;
}

export const ingressPathsOf = (catalogue: readonly CatalogueEntry[]): ReadonlyMap<string, IngressPath> =>
  new Map(
    catalogue.flatMap(({ id, ingress }) => ingress.map((path) => [path, { feature: id, title: titleOf(id) }] as const)),
  );

/** `channel-provider-a` is Provider A. */
const titleOf = (id: string): string =>
  id
    .replace(/^channel-/, "")
    .replaceAll("-", " ")
    .replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
