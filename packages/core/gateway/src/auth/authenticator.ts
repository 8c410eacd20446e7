/**
 * Who is calling: tokens, sign-ins of the page, scopes, the lockout of clients that keep guessing, and the requests and streams that end with
 * a device or a sign-in.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Clock, Logger } from "@svc/contract";
import type { Author, Device, Scope } from "@svc/store";
import { Reply, errorReply } from "../http/reply.ts";
import { type Client, Lockout, type SlidingWindow } from "../middleware/client.ts";
import { type Devices, bearerToken } from "./devices.ts";
import { type PageHandover, type PageSessions, type PageSignIn, isNobodyElses, sentCookie } from "./page-sessions.ts";
import { LinkedList } from "@svc/runtime";
import type { Send } from "../http/send.ts";

/** What a path asks for: to post messages, to read, to change something, or only to be known. */
export type Need = "webhook" | "read" | "operate" | "connect";

const OPENS: Readonly<Record<Scope, readonly Need[]>> = {
  operator: ["webhook", "read", "operate", "connect"],
  webhook: ["webhook", "connect"],
  read: ["read", "connect"],
};

export const opens = (scope: Scope, need: Need): boolean => OPENS[scope].includes(need);

const BAD_BEARERS = 10;
const WINDOW_MS = 60_000;
const LOCKOUT_MS = 300_000;

/** Why no principal was found. Only "wrong" counts as a guess. */
type Unknown = "nothing" | "wrong" | "several" | "ended";

const UNKNOWN: Readonly<Record<Unknown, Reply>> = {
  nothing: errorReply("UNAUTHORIZED"),
  wrong: errorReply("UNAUTHORIZED"),
  several: errorReply("UNAUTHORIZED", {
    message: "Two svc_session cookies were sent, and only one can be right; delete the cookies of this host.",
  }),
  ended: errorReply("UNAUTHORIZED", { message: "The page was signed out." }),
};

export class Authenticator {
  readonly #devices: Devices;
  readonly #pageSessions: PageSessions;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #lockout = new Lockout({ maxFailures: BAD_BEARERS, windowMs: WINDOW_MS, lockoutMs: LOCKOUT_MS });

  constructor(devices: Devices, pageSessions: PageSessions, clock: Clock, log: Logger) {
    this.#devices = devices;
    this.#pageSessions = pageSessions;
    this.#clock = clock;
    this.#log = log;
  }

  /** Who it is, or the refusal: 429 LOCKED_OUT, 401, 403 FORBIDDEN_SCOPE. */
  require(credentials: Credentials, client: Client, need: Need): Principal | Reply {
    const met = this.meet(credentials, client);
    if (met === undefined) return UNKNOWN.nothing;
    return met instanceof Reply || opens(met.device.scope, need) ? met : errorReply("FORBIDDEN_SCOPE");
  }

  /** For public routes: undefined for a caller without credentials. Wrong credentials still count as a guess. */
  meet(credentials: Credentials, client: Client): Principal | Reply | undefined {
    const waitMs = this.#lockedMs(client);
    if (waitMs > 0) return errorReply("LOCKED_OUT", { retryAfterMs: waitMs });
    const found = this.#find(credentials);
    if (typeof found !== "string") return found;
    if (found === "wrong") this.#failed(client);
    return found === "nothing" ? undefined : UNKNOWN[found];
  }

  /**
   * The page that a cookie is of, with its second secret: for requests that our own page sent. A cookie that opens nothing
   * is what a browser has left of an older sign-in, and no guess. Refuses 429 LOCKED_OUT, 401, 403 FORBIDDEN_SCOPE.
   */
  resume(cookie: string | undefined, client: Client): (PageHandover & Principal) | Reply {
    const waitMs = this.#lockedMs(client);
    if (waitMs > 0) return errorReply("LOCKED_OUT", { retryAfterMs: waitMs });
    const sent = sentCookie(cookie);
    if (sent === undefined) return UNKNOWN.nothing;
    if (sent === "several") return UNKNOWN.several;
    const found = this.#pageSessions.resume(sent);
    if (found === "ended") return UNKNOWN.ended;
    return opens(found.device.scope, "read") ? { ...found, cookie: sent } : errorReply("FORBIDDEN_SCOPE");
  }

  /** The device of a token, where one is welcome but not demanded. */
  deviceOf(authorization: string | undefined): Device | undefined {
    const token = authorization === undefined ? undefined : bearerToken(authorization);
    return token === undefined ? undefined : this.#devices.find(token);
  }

  /** A token goes before a sign-in: who sends one means it. */
  #find({ authorization, cookie, "x-svc-csrf": csrf }: Credentials): Principal | Unknown {
    if (authorization !== undefined) {
      const device = this.deviceOf(authorization);
      return device === undefined ? "wrong" : { device };
    }
    const sent = sentCookie(cookie);
    // Each of the two is nothing without the other: browsers send cookies of themselves, and who sends none opens nothing.
    if (typeof csrf !== "string" || sent === undefined) return "nothing";
    return sent === "several" ? "several" : this.#pageSessions.find({ cookie: sent, csrf });
  }

  #lockedMs(client: Client): number {
    return client.isLoopback ? 0 : this.#lockout.waitMs(client.limiterKey, this.#clock.monotonic());
  }

  #failed(client: Client): void {
    if (client.isLoopback) return;
    if (this.#lockout.fail(client.limiterKey, this.#clock.monotonic())) {
      this.#log.warn("a client is locked out for five minutes: too many wrong tokens", { client: client.limiterKey });
    }
  }
}

// Access to public routes: our own pages and programs, no pages of other sites, and no client more often than a person
// needs it.

export interface PublicAccessDeps {
  readonly authenticator: Authenticator;
  /** Of all open routes together; it outlives a reload. */
  readonly limit: SlidingWindow;
  readonly clock: Clock;
}

export class PublicAccess {
  readonly #deps: PublicAccessDeps;

  constructor(deps: PublicAccessDeps) {
    this.#deps = deps;
  }

  /** Who it is, undefined for a stranger, or the refusal: 403 BAD_ORIGIN, 429, 401 for a token that is wrong. */
  admit(headers: IncomingHttpHeaders, client: Client): Principal | Reply | undefined {
    const { authenticator, limit, clock } = this.#deps;
    // Before the limit: a foreign site that makes its visitors' browsers call here must not use up the visitors' quota.
    if (!isNobodyElses(headers)) return errorReply("BAD_ORIGIN");
    const waitMs = limit.take(client.limiterKey, clock.monotonic());
    if (waitMs > 0) return errorReply("RATE_LIMITED", { retryAfterMs: waitMs });
    return authenticator.meet(headers, client);
  }
}

// By what a request may prove who sends it.

export type Credentials = Pick<IncomingHttpHeaders, "authorization" | "cookie"> & {
  readonly "x-svc-csrf"?: string | string[] | undefined;
};

/** A token alone: for paths that programs call, and no page does. */
export const tokenOnly = ({ authorization }: IncomingHttpHeaders): Credentials => ({ authorization });

/**
 * Credentials of a WebSocket handshake. A page can't set its headers, so the token, or the value of `X-Svc-Csrf`, is among
 * the protocols: `bearer.<token>`, `csrf.<value>`. If either appears twice, neither value is accepted.
 */
export function upgradeCredentials(headers: IncomingHttpHeaders): Credentials {
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((one) => one.trim());
  const after = (prefix: string): string | undefined => {
    const values = offered.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length));
    return values.length === 0 ? undefined : values.join(" ");
  };
  const token = after("bearer.");
  return {
    authorization: headers.authorization ?? (token === undefined ? undefined : `Bearer ${token}`),
    cookie: headers.cookie,
    "x-svc-csrf": headers["x-svc-csrf"] ?? after("csrf."),
  };
}

// Who is calling, and by what that was proved.

export interface Principal {
  readonly device: Device;
  /** The sign-in of the page that was used; undefined: it was a token. What runs on it ends with it. */
  readonly signIn?: PageSignIn | undefined;
}

/** As the writer of a message. */
export const authorOf = ({ id, name }: Device): Author => ({ kind: "device", id, name });

// Open requests and streams of each device. Revoking a device closes all of them at once; signing a page out closes the page's.

/** Why it ends. */
type EndReason = "revoked" | "signed-out";

interface Opener {
  readonly device: Pick<Device, "id">;
  readonly signIn?: Principal["signIn"];
}

interface Open {
  readonly signIn: PageSignIn | undefined;
  readonly close: (why: EndReason) => void;
  /** It has ended. */
  forget: () => void;
}

export class DeviceConnections {
  /** By device; a device's list stays, empty or not, until it is revoked. */
  readonly #open = new Map<string, LinkedList<Open>>();
  readonly #revoked = new Set<string>();

  /**
   * `close` is called at most once: when the device is revoked or its page signed out, or at once when that has been. Call
   * the result when the stream has ended by itself.
   */
  open({ device: { id }, signIn }: Opener, close: (why: EndReason) => void): () => void {
    if (this.#revoked.has(id) || signIn?.isEnded === true) {
      close(this.#revoked.has(id) ? "revoked" : "signed-out");
      return () => {};
    }
    let list = this.#open.get(id);
    if (list === undefined) this.#open.set(id, (list = new LinkedList()));
    const opened = list;
    const open: Open = { signIn, close, forget };
    const link = opened.add(open);
    return (open.forget = () => void opened.delete(link));
  }

  /** Ends everything that is open for a device. Never throws: one that can't be closed must not save the others. */
  closeAll(deviceId: string): void {
    this.#revoked.add(deviceId);
    const list = this.#open.get(deviceId);
    this.#open.delete(deviceId);
    for (const open of list?.items() ?? []) close(open, "revoked");
  }

  /** Ends what was opened by a sign-in that has ended. Never throws. */
  closeOf(signIn: PageSignIn): void {
    const list = this.#open.get(signIn.deviceId);
    for (const open of list?.items() ?? []) {
      if (open.signIn !== signIn) continue;
      open.forget();
      close(open, "signed-out");
    }
  }

  /** How many are open, of one device or of all. */
  count(deviceId?: string): number {
    if (deviceId !== undefined) return this.#open.get(deviceId)?.size ?? 0;
    let sum = 0;
    for (const list of this.#open.values()) sum += list.size;
    return sum;
  }
}

function close(open: Open, why: EndReason): void {
  try {
    open.close(why);
  } catch {
    // Its connection is gone already.
  }
}

const forget = (): void => {};

// A request that is being answered to a device: when the device is revoked, or the page signed out that sent it, it is
// answered 401, and its connection ends.

const ENDED: Readonly<Record<EndReason, Reply>> = {
  revoked: errorReply("UNAUTHORIZED", { message: "This device was revoked." }),
  "signed-out": errorReply("UNAUTHORIZED", { message: "The page was signed out." }),
};

/** Call the result to let it end by itself after all. */
export function openExchange(
  connections: DeviceConnections,
  opener: Opener,
  send: Send,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): () => void {
  const release = connections.open(opener, (why) => {
    // Half of an answer is already sent; the rest must not follow.
    if (outgoing.headersSent) outgoing.destroy();
    else {
      outgoing.shouldKeepAlive = false;
      send(incoming, outgoing, ENDED[why]);
    }
  });
  // Not `once`: it costs more, on every request, and there is only one close.
  outgoing.on("close", release);
  return release;
}
