/**
 * Sign-ins of the page. Each has two secrets: the cookie, which the browser hides from scripts, and a value that the page
 * sends in `X-Svc-Csrf`, which a browser never sends by itself. A foreign site can make a browser send the cookie, so the
 * cookie alone does one thing only: it returns the second secret to our own page (`resume`). The second follows from the
 * cookie by HMAC; only the hash of the cookie is stored.
 */
import { createHmac, hash, randomBytes, randomUUID } from "node:crypto";
import { type Clock, type Logger, SvcError } from "@svc/contract";
import { equalSecrets } from "@svc/kit";
import type { Device, PageSession } from "@svc/store";
import type { IncomingHttpHeaders } from "node:http";
import type { PageDevice, SignIn } from "@svc/api";

/** Sign-ins of the page, over restarts. */
export interface PageSessionStore {
  all(): readonly PageSession[];
  /** Both resolve once it is on disk, and reject with STORE_*. */
  add(session: PageSession): Promise<void>;
  remove(idHash: string): Promise<void>;
  /** Notes a use; cheap, never waited for. */
  touch(idHash: string, atMs: number): void;
}

/** Per device, so that a client that signs in again and again ends its own sign-ins, not those of others. */
export const MAX_PER_DEVICE = 20;
export const MAX_SIGN_INS = 1000;
/** How late an idle sign-in may end. */
const LOOK_EVERY_MS = 60_000;

/** A sign-in that works, or did. */
export interface PageSignIn {
  /** Names it in lists; opens nothing. */
  readonly id: string;
  /** Hex SHA-256 of its cookie. */
  readonly idHash: string;
  readonly deviceId: string;
  readonly isEnded: boolean;
}

/** What the service knows of the browser that signs in. */
export interface Browser {
  /** Browser and system in words. */
  readonly browser: string;
  /** The page came by https. */
  readonly isSecure: boolean;
}

/** A sign-in as operators see it. */
export type ListedSignIn = Pick<PageSession, "id" | "browser" | "createdAtMs" | "seenAtMs">;

export interface PageSecrets {
  /** For the browser alone. */
  readonly cookie: string;
  /** For the page alone. */
  readonly csrf: string;
}

export interface PageSessionsDeps {
  readonly store: PageSessionStore;
  /** Those that may come in. */
  readonly devices: {
    get(id: string): Device | undefined;
    /** The same, which is noted as seen. */
    seen(id: string): Device | undefined;
  };
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds without a request after which a sign-in ends, as configured now. */
  readonly idleMs: () => number;
  /** Closes the streams and requests of the sign-in. */
  readonly onEnd: (signIn: PageSignIn) => void;
}

interface Found {
  readonly signIn: PageSignIn;
  readonly device: Device;
}

interface Live extends PageSignIn, Browser {
  isEnded: boolean;
  readonly createdAtMs: number;
  /** By the wall clock, which knows how long the machine slept. */
  seenAtMs: number;
  /** By the monotonic clock, which can't be set back. */
  seenMs: number;
}

export class PageSessions {
  readonly #options: PageSessionsDeps;
  readonly #removals: Removals;
  /** By the hash of the cookie, the least recently seen first. */
  readonly #live = new Map<string, Live>();
  /** Cookies that worked once: a page that does not know yet that it was signed out guesses nothing. */
  readonly #ended = new Set<string>();
  #cancelLook: (() => void) | undefined;
  #stopped = false;

  constructor(options: PageSessionsDeps) {
    this.#options = options;
    this.#removals = new Removals(options);
    for (const session of options.store.all()) this.#takeUp(session);
    this.#lookLater();
  }

  /** Resolves once it is on disk, and only then it works. Rejects with STORE_*, and UNAUTHORIZED for a revoked device. */
  async open({ id: deviceId }: Pick<Device, "id">, { browser, isSecure }: Browser): Promise<PageSecrets> {
    const { store, devices, clock, log } = this.#options;
    const cookie = mintSecret();
    const idHash = idHashOf(cookie);
    const nowMs = clock.now();
    const session = { id: randomUUID(), idHash, deviceId, browser, isSecure, createdAtMs: nowMs, seenAtMs: nowMs };
    await store.add(session);
    if (devices.get(deviceId) === undefined) {
      this.#removals.begin(idHash);
      throw new SvcError("UNAUTHORIZED", "This device was revoked.");
    }
    this.#live.set(idHash, { ...session, isEnded: false, seenMs: clock.monotonic() });
    this.#makeRoom(deviceId);
    this.#lookLater();
    log.info("a page was signed in", { device: deviceId });
    return { cookie, csrf: csrfOf(cookie) };
  }

  /** The device that both secrets belong to; it is noted as seen. `ended`: they belonged to one. */
  find({ cookie, csrf }: PageSecrets): Found | "wrong" | "ended" {
    const idHash = idHashOf(cookie);
    const live = this.#live.get(idHash);
    if (live === undefined) return this.#ended.has(idHash) ? "ended" : "wrong";
    return equalSecrets(csrf, csrfOf(cookie)) ? this.#used(live) : "wrong";
  }

  /** The second secret of a cookie. Only for a request that our own page sent: nothing else may learn it. */
  resume(cookie: string): (Found & { readonly csrf: string; readonly isSecure: boolean }) | "ended" {
    const live = this.#live.get(idHashOf(cookie));
    const found = live === undefined ? "ended" : this.#used(live);
    if (live === undefined || found === "ended") return "ended";
    return { ...found, csrf: csrfOf(cookie), isSecure: live.isSecure };
  }

  /** Those of a device, the most recently seen first. */
  list(deviceId: string): readonly ListedSignIn[] {
    return [...this.#live.values()].filter((live) => live.deviceId === deviceId && !this.#isIdle(live)).toReversed();
  }

  /** Whether there is a sign-in of this id. */
  has(id: string): boolean {
    return this.#live.values().some((live) => live.id === id);
  }

  /** Ends one by its id; resolves with whether the device has such a sign-in. Rejects as `end` does. */
  async endOne(deviceId: string, id: string): Promise<boolean> {
    const live = this.#live.values().find((one) => one.id === id && one.deviceId === deviceId);
    if (live === undefined) return false;
    await this.end(live);
    this.#options.log.info("a page was signed out by an operator", { device: deviceId });
    return true;
  }

  #used(live: Live): Found | "ended" {
    const { store, devices, clock } = this.#options;
    const { idHash } = live;
    const device = this.#isIdle(live) ? undefined : devices.seen(live.deviceId);
    if (device === undefined) {
      this.#drop(live);
      return "ended";
    }
    live.seenAtMs = clock.now();
    live.seenMs = clock.monotonic();
    this.#live.delete(idHash);
    this.#live.set(idHash, live);
    store.touch(idHash, live.seenAtMs);
    return { signIn: live, device };
  }

  /** Ends it at once. Rejects with STORE_* when that could not be stored: it is shut out all the same, until a restart. */
  async end(signIn: PageSignIn): Promise<void> {
    this.#shut(signIn.idHash);
    await this.#removals.now(signIn.idHash);
  }

  /** Ends those of a device that was revoked. */
  endOf(deviceId: string): void {
    for (const live of this.#live.values()) if (live.deviceId === deviceId) this.#drop(live);
  }

  /** No timer, no further tries. */
  stop(): void {
    this.#stopped = true;
    this.#cancelLook?.();
    this.#removals.stop();
  }

  /** Milliseconds without a request after which a sign-in ends. */
  get idleMs(): number {
    return this.#options.idleMs();
  }

  get size(): number {
    return this.#live.size;
  }

  /** One of before the start. The time in between counts, as far as the clock tells it. */
  #takeUp(session: PageSession): void {
    const { store, devices, clock, idleMs: longestIdleMs } = this.#options;
    const { idHash, deviceId, seenAtMs } = session;
    const nowMs = clock.now();
    const idleMs = Math.max(0, nowMs - seenAtMs);
    const live: Live = { ...session, isEnded: false, seenMs: clock.monotonic() - idleMs };
    this.#live.set(idHash, live);
    if (idleMs >= longestIdleMs() || devices.get(deviceId) === undefined) this.#drop(live);
    else if (seenAtMs > nowMs) {
      // The clock was set back. Unless that is noted, each start would be the first minute of it.
      live.seenAtMs = nowMs;
      store.touch(idHash, nowMs);
    }
  }

  #isIdle({ seenAtMs, seenMs }: Live): boolean {
    const { clock, idleMs } = this.#options;
    return clock.monotonic() - seenMs >= idleMs() || clock.now() - seenAtMs >= idleMs();
  }

  /** Without this check the streams of an expired sign-in would stay open for ever. */
  #lookLater(): void {
    if (this.#stopped || this.#cancelLook !== undefined || this.#live.size === 0) return;
    this.#cancelLook = this.#options.clock.after(LOOK_EVERY_MS, () => {
      this.#cancelLook = undefined;
      for (const live of this.#live.values()) if (this.#isIdle(live)) this.#drop(live);
      this.#lookLater();
    });
  }

  #makeRoom(deviceId: string): void {
    const own = this.#live.values().filter((live) => live.deviceId === deviceId);
    for (const live of [...own].slice(0, -MAX_PER_DEVICE)) this.#drop(live);
    for (const live of [...this.#live.values()].slice(0, -MAX_SIGN_INS)) this.#drop(live);
  }

  #drop({ idHash }: PageSignIn): void {
    this.#shut(idHash);
    this.#removals.begin(idHash);
  }

  #shut(idHash: string): void {
    const live = this.#live.get(idHash);
    if (live === undefined) return;
    live.isEnded = true;
    this.#live.delete(idHash);
    this.#ended.add(idHash);
    if (this.#ended.size > MAX_SIGN_INS) this.#ended.delete(this.#ended.values().next().value!);
    this.#options.onEnd(live);
  }
}

/** 256 random bits: nothing of it can be guessed, so that its hash needs no salt. Fit for a cookie and a WebSocket protocol. */
const mintSecret = (): string => randomBytes(32).toString("base64url");

const idHashOf = (cookie: string): string => hash("sha256", cookie, "hex");

/** The label keeps this apart from any other value derived from a cookie. */
const csrfOf = (cookie: string): string => createHmac("sha256", cookie).update("svc page csrf").digest("base64url");

// Sign-ins that have ended and are to go from the disk. What a full disk refuses is tried again, or a restart would bring it back.

export interface RemovalsDeps {
  readonly store: Pick<PageSessionStore, "remove">;
  readonly clock: Clock;
  readonly log: Logger;
}

const RETRY_MS = 30_000;

class Removals {
  readonly #options: RemovalsDeps;
  readonly #left = new Set<string>();
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(options: RemovalsDeps) {
    this.#options = options;
  }

  /** Rejects with STORE_* when it is not gone; then it is tried again. */
  async now(idHash: string): Promise<void> {
    try {
      await this.#options.store.remove(idHash);
      this.#left.delete(idHash);
    } catch (cause) {
      if (this.#left.size === 0) this.#options.log.warn("a page was signed out, but that could not be stored yet");
      this.#left.add(idHash);
      this.#tryLater();
      const code = cause instanceof SvcError ? cause.code : "STORE_FAILED";
      throw new SvcError(code, "The page is signed out, but that could not be stored: a restart would undo it.", {
        cause,
      });
    }
  }

  /** For callers that can't handle a failure. */
  begin(idHash: string): void {
    this.now(idHash).catch(() => {});
  }

  /** No further tries. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  #tryLater(): void {
    if (this.#stopped || this.#cancel !== undefined) return;
    this.#cancel = this.#options.clock.after(RETRY_MS, () => {
      this.#cancel = undefined;
      for (const idHash of this.#left) this.begin(idHash);
    });
  }
}

// The cookie of a signed-in page.

const NAME = "svc_session";

/** SameSite: no other site's link, form or script makes the browser send it. HttpOnly: no script of ours can read it. */
const ATTRIBUTES = "HttpOnly; SameSite=Strict; Path=/";

/** As `Set-Cookie` has it. The browser keeps it for `maxAgeMs`; whether it still opens anything is decided here. */
const sessionCookie = (value: string, isSecure: boolean, maxAgeMs: number): string =>
  `${NAME}=${value}; ${ATTRIBUTES}; Max-Age=${Math.floor(maxAgeMs / 1000)}${isSecure ? "; Secure" : ""}`;

/** As `Set-Cookie` has it. */
export const NO_SESSION_COOKIE = `${NAME}=; ${ATTRIBUTES}; Max-Age=0`;

/**
 * The value of ours in a `Cookie` header. `several`: another host of this domain, or another path, has planted one beside
 * it. No rule tells ours apart, and the first is not a better guess than the last.
 */
export function sentCookie(header: string | undefined): string | "several" | undefined {
  if (header === undefined || !header.includes(NAME)) return undefined;
  const ours = header
    .split(";")
    .map((part) => part.trim().split("="))
    .filter(([name]) => name?.trimEnd() === NAME);
  if (ours.length > 1) return "several";
  return ours[0]?.slice(1).join("=") || undefined;
}

// A sign-in as it is handed over to the page.

interface OpenedPage {
  readonly body: SignIn;
  /** Name and value of a header. */
  readonly setCookie: readonly [string, string];
}

/** Rejects with STORE_*, and UNAUTHORIZED for a device that was revoked meanwhile. */
export async function openPage(
  sessions: Pick<PageSessions, "open" | "idleMs">,
  device: Device,
  headers: IncomingHttpHeaders,
): Promise<OpenedPage> {
  // Only the browser knows the scheme: a proxy may end TLS before the gateway.
  const isSecure = headers.origin?.toLowerCase().startsWith("https:") === true;
  const browser = browserName(headers["user-agent"]);
  const { cookie, csrf } = await sessions.open(device, { browser, isSecure });
  return openedPage(sessions, { cookie, csrf, device, isSecure });
}

export interface PageHandover {
  readonly cookie: string;
  readonly csrf: string;
  readonly device: Device;
  readonly isSecure: boolean;
}

/** The cookie is set anew each time, so that the browser keeps it as long as the sign-in lasts. */
export const openedPage = (
  { idleMs }: Pick<PageSessions, "idleMs">,
  { cookie, csrf, device, isSecure }: PageHandover,
): OpenedPage => ({
  body: { csrf, device: shownDevice(device) },
  setCookie: ["set-cookie", sessionCookie(cookie, isSecure, idleMs)],
});

/** Throws FORBIDDEN_SCOPE for a program's device: no page signs in as one. */
export function shownDevice({ id, name, scope }: Device): PageDevice {
  if (scope === "webhook") throw new SvcError("FORBIDDEN_SCOPE");
  return { id, name, scope };
}

// Who made a browser ask. The host check has refused every Origin that is not ours, and takes requests without one.

/** A page of ours in a browser, which tells where it is from; one that also tells how the two are related says that they are one. */
export const isOwnPage = (headers: IncomingHttpHeaders): boolean =>
  headers.origin !== undefined && isNobodyElses(headers);

/** The same for a request that may lack an Origin: a browser sends none with a GET of its own page. */
export const isSurelyOwnPage = (headers: IncomingHttpHeaders): boolean =>
  headers["sec-fetch-site"] === "same-origin" || isOwnPage(headers);

/** A page of ours, or no browser at all: `Sec-Fetch-Site` can't be left out or made up by a page. */
export const isNobodyElses = ({ "sec-fetch-site": site }: IncomingHttpHeaders): boolean =>
  site === undefined || site === "same-origin";

// The default name of a browser in the list of devices. The User-Agent itself is not stored.

/** The order matters: most browsers also name others in their User-Agent. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\/|\bEdgiOS\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\b(?:Headless)?Chrome\/|\bCriOS\/|\bChromium\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\biPhone\b|\biPad\b/, "iOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/** `Firefox on Linux`, of a `User-Agent`. */
export function browserName(userAgent: string | undefined): string {
  const browser = nameIn(BROWSERS, userAgent) ?? "Browser";
  const system = nameIn(SYSTEMS, userAgent);
  return system === undefined ? browser : `${browser} on ${system}`;
}

const nameIn = (names: readonly (readonly [RegExp, string])[], text = ""): string | undefined =>
  names.find(([pattern]) => pattern.test(text))?.[1];
