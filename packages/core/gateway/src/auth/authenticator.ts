/**
 * Who is calling: paired devices and their tokens, sign-ins of the page, scopes, the lockout of clients that keep guessing, and the requests
 * and streams that end with a device or a sign-in.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { type ClientId, type Clock, type Logger, SvcError } from "@svc/contract";
import type { Author, Device, Scope } from "@svc/store";
import { Reply, errorReply } from "../http/reply.ts";
import { type Client, Lockout, type SlidingWindow } from "../client.ts";
import { type PageHandover, type PageSessions, type PageSignIn, isNobodyElses, sentCookie } from "./page-sessions.ts";
import { LinkedList } from "@svc/runtime";
import type { Send } from "../http/send.ts";
import { hash, randomBytes } from "node:crypto";
import { DeviceName } from "@svc/api";
import * as v from "valibot";

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

// Who is calling, and by what that was proved.

export interface Principal {
  readonly device: Device;
  /** The sign-in of the page that was used; undefined: it was a token. What runs on it ends with it. */
  readonly signIn?: PageSignIn | undefined;
}

/** As the writer of a message. */
export const authorOf = ({ id, name }: Device): Author => ({ kind: "device", id, name });

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

// The paired devices, looked up by the hash of a token and by ClientId.

export interface DeviceStore {
  all(): readonly Device[];
  /** Resolves when the device is durable; rejects when it could not be written. */
  add(device: Device): Promise<void>;
  /** Both resolve with whether there is such a device, once the change is durable; both reject when it is not. */
  rename(id: string, name: string): Promise<boolean>;
  remove(id: string): Promise<boolean>;
  /** Notes a use; cheap, never waited for. */
  touch(id: string, atMs: number): void;
}

export interface PairedDevices {
  list(): readonly Device[];
  /** Resolves once it is on disk, with whether there is such a device. Throws BAD_REQUEST, STORE_*. */
  rename(id: string, name: string): Promise<boolean>;
  /**
   * Shuts the device out at once: its token, its turns, its connections. Resolves once that is on disk, with whether
   * there was such a device. Rejects with STORE_* when it could not be stored; the device is shut out all the same, until
   * a restart, and still listed.
   */
  revoke(id: string): Promise<boolean>;
}

interface DevicesDeps {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Closes the device's connections and aborts its turns. */
  readonly onRevoked: (device: Device) => void;
}

/** A revocation that could not be stored is tried again, or a restart would bring the device back. */
const RETRY_MS = 30_000;
const RETURNS = "a revoked device is shut out, but that could not be stored: a restart would let it in again";

export class Devices implements PairedDevices {
  readonly #options: DevicesDeps;
  /** All that are on disk, those shut out included. */
  readonly #byId = new Map<string, Device>();
  readonly #byClient = new Map<ClientId, Device>();
  /** Those whose token works. */
  readonly #byHash = new Map<string, Device>();
  readonly #revoking = new Map<string, Promise<boolean>>();
  /** Shut out and still on disk; each value calls the next try off. */
  readonly #unstored = new Map<string, () => void>();
  #stopped = false;

  constructor(options: DevicesDeps) {
    this.#options = options;
    for (const device of options.store.all()) this.#remember(device);
  }

  /**
   * The device a token belongs to. The lookup by hash leaks nothing through timing: an attacker who can choose a token whose
   * hash comes close to a stored one has broken SHA-256.
   */
  find(token: string): Device | undefined {
    const device = this.#byHash.get(tokenHash(token));
    if (device) this.#options.store.touch(device.id, this.#options.clock.now());
    return device;
  }

  /** The device of this id, if it may come in. */
  get(id: string): Device | undefined {
    const device = this.#byId.get(id);
    return device && this.#byHash.has(device.tokenHash) ? device : undefined;
  }

  /** The same, which is noted as seen. */
  seen(id: string): Device | undefined {
    const device = this.get(id);
    if (device) this.#options.store.touch(id, this.#options.clock.now());
    return device;
  }

  ofId(id: string): Device | undefined {
    return this.#byId.get(id);
  }

  ofClient(clientId: ClientId): Device | undefined {
    return this.#byClient.get(clientId);
  }

  /** Of the store, which knows when each was last seen; never one that `revoke` would not find. */
  list(): readonly Device[] {
    return this.#options.store.all().filter(({ id }) => this.#byId.has(id));
  }

  /** Resolves once the device is on disk, and only then its token works. */
  async add(device: Device): Promise<void> {
    await this.#options.store.add(device);
    this.#remember(device);
  }

  async rename(id: string, name: string): Promise<boolean> {
    const given = v.safeParse(DeviceName, name);
    if (!given.success) throw new SvcError("BAD_REQUEST", "A device's name is 1 to 64 printable characters.");
    if (!this.#byId.has(id) || !(await this.#options.store.rename(id, given.output))) return false;
    const device = this.#byId.get(id);
    if (device) this.#replace({ ...device, name: given.output });
    return true;
  }

  /** Concurrent calls for one device share one result. */
  revoke(id: string): Promise<boolean> {
    const device = this.#byId.get(id);
    const known = this.#revoking.get(id);
    if (known || !device) return known ?? Promise.resolve(false);
    // Shut out before anything is written: however long the disk takes, no further request passes.
    if (this.#byHash.delete(device.tokenHash)) this.#options.onRevoked(device);
    const revoking = this.#remove(device).finally(() => this.#revoking.delete(id));
    this.#revoking.set(id, revoking);
    return revoking;
  }

  /** Throws STORE_FAILED while a device is shut out here and not on disk. */
  checkStored(): void {
    if (this.#unstored.size > 0) throw notStored(undefined);
  }

  /** How many can come in. */
  get size(): number {
    return this.#byHash.size;
  }

  /** No further tries. Tells what the next start will not know. */
  stop(): void {
    this.#stopped = true;
    for (const [device, cancel] of this.#unstored) {
      cancel();
      this.#options.log.error(RETURNS, { device });
    }
    this.#unstored.clear();
  }

  async #remove({ id, clientId }: Device): Promise<boolean> {
    const { store, log } = this.#options;
    try {
      const wasThere = await store.remove(id);
      this.#unstored.get(id)?.();
      this.#unstored.delete(id);
      this.#byId.delete(id);
      this.#byClient.delete(clientId);
      log.info("a device was revoked", { device: id });
      return wasThere;
    } catch (cause) {
      this.#tryLater(id);
      throw notStored(cause);
    }
  }

  #tryLater(id: string): void {
    const { clock, log } = this.#options;
    if (this.#unstored.has(id)) this.#unstored.get(id)?.();
    else log.error(RETURNS, { device: id });
    if (this.#stopped) return;
    const tryAgain = (): void => void this.revoke(id).catch(() => {});
    this.#unstored.set(id, clock.after(RETRY_MS, tryAgain));
  }

  #remember(device: Device): void {
    this.#byHash.set(device.tokenHash, device);
    this.#byId.set(device.id, device);
    this.#byClient.set(device.clientId, device);
  }

  /** A device that is shut out stays so. */
  #replace(device: Device): void {
    if (this.#byHash.has(device.tokenHash)) this.#byHash.set(device.tokenHash, device);
    this.#byId.set(device.id, device);
    this.#byClient.set(device.clientId, device);
  }
}

function notStored(cause: unknown): SvcError {
  const code = cause instanceof SvcError ? cause.code : "STORE_FAILED";
  return new SvcError(code, "The device is shut out, but that could not be stored: a restart would let it in again.", {
    hint: "It is tried again every half minute. Make room on the disk and look at the log before you restart.",
    cause,
  });
}

// Bearer tokens: `svc_` and 64 hex digits. Only their SHA-256 is ever kept, and looked up.

/** 256 random bits; nothing about it can be guessed, so its hash needs no salt and no stretching. */
export const mintToken = (): string => `svc_${randomBytes(32).toString("hex")}`;

/** Hex SHA-256. */
export const tokenHash = (token: string): string => hash("sha256", token, "hex");

/** The token in an `Authorization` header; undefined unless it is a well-formed one of ours. */
export function bearerToken(authorization: string): string | undefined {
  return /^bearer +(svc_[0-9a-f]{64}) *$/i.exec(authorization)?.[1];
}

// Open requests and streams of each device. Revoking a device closes all of them at once; signing a page out closes the page's.

/** Why it ends. */
type EndReason = "revoked" | "signed-out";

interface Opener {
  readonly device: Pick<Device, "id">;
  readonly signIn?: Principal["signIn"];
}

class Open {
  readonly signIn: PageSignIn | undefined;
  readonly close: (why: EndReason) => void;
  /** It has ended. */
  forget: () => void = forget;

  constructor(signIn: PageSignIn | undefined, close: (why: EndReason) => void) {
    this.signIn = signIn;
    this.close = close;
  }
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
    const open = new Open(signIn, close);
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
