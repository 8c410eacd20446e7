/** `/pair` makes a device of a pairing code; `/api/session` signs a page in and out. A foreign Origin was refused by the host check. */
import type { IncomingHttpHeaders } from "node:http";
import { PairRequest, PairedToken, PairingCode, SignIn, SignInFeatures, SignInHeaders, SignedIn } from "@svc/api";
import type { RegisteredRoute } from "@svc/runtime";
import type { Device } from "@svc/store";
import * as v from "valibot";
import { type Authenticator, type Devices, type Principal, tokenOnly } from "../auth/authenticator.ts";
import {
  NO_SESSION_COOKIE,
  type PageSessions,
  browserName,
  isSurelyOwnPage,
  openPage,
  openedPage,
  shownDevice,
} from "../auth/page-sessions.ts";
import { Reply, errorReply, replyToError } from "../http/reply.ts";
import type { Client, ClientResolver, Peer } from "../client.ts";
import type { Check, Exchange } from "../pipeline.ts";
import { type RouteSpec, respond } from "./route.ts";
import type { Logger } from "@svc/contract";
import { parseJson } from "@svc/kit";
import type { Paired, Pairing, WantedDevice } from "../auth/pairing.ts";

const PATH = "/api/session";

const COOKIE = { "Set-Cookie": v.pipe(v.string(), v.description("svc_session, for the browser alone.")) };

export const SIGN_IN = {
  method: "POST",
  path: PATH,
  access: "public",
  summary: "Signs a page in.",
  details:
    "Takes a bearer token, or a pairing code, which makes the browser a device. The cookie alone opens nothing: " +
    "X-Svc-Csrf must come with it. A sign-in ends after gateway.page_session_days without a request. A request with only the " +
    "cookie of a sign-in gets the answer of GET: a page loaded over plain http sends no Origin with GET.",
  headers: SignInHeaders,
  body: PairRequest,
  bodyOptional: true,
  answers: {
    200: {
      description: "The page is signed in.",
      body: SignIn,
      headers: COOKIE,
    },
  },
  errors: [
    "UNAUTHORIZED",
    "FORBIDDEN_SCOPE",
    "RATE_LIMITED",
    "LOCKED_OUT",
    "BAD_PAIRING_CODE",
    "STORE_FULL",
    "STORE_FAILED",
  ],
} satisfies RouteSpec;

export const SIGNED_IN = {
  method: "GET",
  path: PATH,
  access: "read",
  summary: "Tells whose sign-in, or token, it is.",
  details:
    "With the cookie alone, and an own Origin or Sec-Fetch-Site: same-origin, it also returns csrf and sets the cookie " +
    "anew: a reload, or a restart of the browser, stays signed in. Nothing else is answered to the cookie alone.",
  answers: {
    200: { description: "The device.", body: SignedIn },
  },
} satisfies RouteSpec;

export const SIGN_OUT = {
  method: "DELETE",
  path: PATH,
  access: "read",
  summary: "Signs the page out: its streams and its requests end at once.",
  details: "Who came by a token has nothing to sign out of; the cookie is cleared all the same.",
  answers: { 204: { description: "It is signed out.", headers: COOKIE } },
  errors: ["STORE_FULL", "STORE_FAILED"],
} satisfies RouteSpec;

export const SIGN_IN_FEATURES = {
  method: "GET",
  path: "/api/session/ways",
  access: "public",
  summary: "Tells by what a page can be signed in, beside a token and a pairing code.",
  answers: {
    200: {
      description: "Ids of features, in service now.",
      body: SignInFeatures,
    },
  },
} satisfies RouteSpec;

export const PAGE_SESSION_SPECS: readonly RouteSpec[] = [SIGN_IN, SIGNED_IN, SIGN_OUT, SIGN_IN_FEATURES];

export interface SessionRouteDeps {
  readonly authenticator: Authenticator;
  readonly clientOf: ClientResolver;
  readonly devices: Pick<Devices, "revoke">;
  readonly pageSessions: PageSessions;
  readonly pair: PairRoute;
  /** The limit of `POST /pair`. */
  readonly pairLimit: Check;
  /** Features that sign a page in by themselves, those that are down apart. */
  readonly features: () => readonly string[];
}

const SIGNED_OUT = new Reply(204, "text/plain", "", ["set-cookie", NO_SESSION_COOKIE]);

export class SessionRoute {
  readonly #deps: SessionRouteDeps;

  constructor(deps: SessionRouteDeps) {
    this.#deps = deps;
  }

  /**
   * Whose sign-in it will be: that of a device which a token proves, or of one that a pairing code makes; both 401, 403, 429.
   * With only the cookie of a sign-in, it answers as GET does.
   */
  readonly signInCaller: Check = (exchange) => {
    const { headers } = exchange.incoming;
    const { authenticator, clientOf, pairLimit } = this.#deps;
    if (headers.authorization === undefined && headers["x-pairing-code"] !== undefined) return pairLimit(exchange);
    // Where a page came by plain http, its browser marks no GET as its own; a POST it does.
    if (headers.authorization === undefined && headers.cookie !== undefined)
      return this.#resume(headers, exchange.peer);
    const principal = authenticator.require(tokenOnly(headers), clientOf(headers, exchange.peer), "read");
    if (principal instanceof Reply) return principal;
    exchange.principal = principal;
    return undefined;
  };

  /** Ignores cookies of the request: a cookie planted by an attacker must never become a sign-in. */
  readonly signIn = async ({ principal, client, incoming: { headers }, body }: Exchange): Promise<Reply> => {
    if (principal !== undefined) return this.#open(principal.device, headers);
    const device = await this.#pair(client, headers, body);
    if (device instanceof Reply) return device;
    const reply = await this.#open(device, headers);
    // The token was never sent: without a sign-in no client could use this device.
    if (reply.status !== 200) await this.#deps.devices.revoke(device.id).catch(() => {});
    return reply;
  };

  /** With the cookie alone, from our own page: the second secret, so that the page stays signed in. */
  readonly signedIn = ({ incoming: { headers }, peer }: Exchange): Reply => {
    const isBare = headers.authorization === undefined && headers["x-svc-csrf"] === undefined;
    if (isBare && isSurelyOwnPage(headers)) return this.#resume(headers, peer);
    const principal = this.#require(headers, peer);
    return principal instanceof Reply ? principal : respond(SIGNED_IN, 200, { device: shownDevice(principal.device) });
  };

  /** A promise only where something has to be stored. */
  readonly signOut = ({ incoming: { headers }, peer }: Exchange): Reply | Promise<Reply> => {
    const principal = this.#require(headers, peer);
    if (principal instanceof Reply) return principal;
    if (principal.signIn === undefined) return SIGNED_OUT;
    return this.#deps.pageSessions.end(principal.signIn).then(() => SIGNED_OUT, replyToError);
  };

  readonly features = (): Reply => respond(SIGN_IN_FEATURES, 200, { features: [...this.#deps.features()] });

  #resume({ cookie, ...headers }: IncomingHttpHeaders, peer: Peer): Reply {
    const { authenticator, clientOf, pageSessions } = this.#deps;
    const found = authenticator.resume(cookie, clientOf(headers, peer));
    if (found instanceof Reply) return found;
    const { body, setCookie } = openedPage(pageSessions, found);
    return respond(SIGNED_IN, 200, body, setCookie);
  }

  #require(headers: IncomingHttpHeaders, peer: Peer): Principal | Reply {
    return this.#deps.authenticator.require(headers, this.#deps.clientOf(headers, peer), "read");
  }

  async #pair(client: Client, headers: IncomingHttpHeaders, body: Buffer): Promise<Device | Reply> {
    const paired = await this.#deps.pair.pair(client, headers, body, {
      defaultName: browserName(headers["user-agent"]),
      scopes: ["operator", "read"],
    });
    return paired instanceof Reply ? paired : paired.device;
  }

  async #open(device: Device, headers: IncomingHttpHeaders): Promise<Reply> {
    try {
      const { body, setCookie } = await openPage(this.#deps.pageSessions, device, headers);
      return respond(SIGN_IN, 200, body, setCookie);
    } catch (error) {
      return replyToError(error);
    }
  }
}

// By what a stranger can sign a page in: features of kind auth, with a route that is open.

export function signInFeatures(
  { routes, authFeatures }: { readonly routes: readonly RegisteredRoute[]; readonly authFeatures: ReadonlySet<string> },
  isUp: (feature: string) => boolean,
): () => readonly string[] {
  const open = routes.filter(({ feature, route }) => route.access === "open" && authFeatures.has(feature));
  const features = [...new Set(open.map(({ feature }) => feature))];
  return () => features.filter(isUp);
}

// `POST /pair`: header `X-Pairing-Code`, optional body `{"device_name"}` → 200 `{"paired":true,"token"}`.

/** Codes and device names are short; no valid request is longer. */
export const MAX_PAIR_BYTES = 4096;

export const PAIR = {
  method: "POST",
  path: "/pair",
  access: "public",
  summary: "Turns a pairing code into a bearer token.",
  details: "`svc pair` makes a code, which is good for ten minutes and for one device.",
  headers: { "X-Pairing-Code": PairingCode },
  body: PairRequest,
  bodyOptional: true,
  answers: {
    200: {
      description: "The token is shown once; only its hash is stored.",
      body: PairedToken,
    },
  },
  errors: ["RATE_LIMITED", "LOCKED_OUT", "BAD_PAIRING_CODE", "INTERNAL"],
} satisfies RouteSpec;

const BAD_NAME = errorReply("BAD_REQUEST", {
  message: 'The body, if any, must be a JSON object whose "device_name" is 1 to 64 printable characters.',
});

interface PairRouteDeps {
  readonly pairing: Pairing;
  readonly log: Logger;
}

export class PairRoute {
  readonly #deps: PairRouteDeps;

  constructor(deps: PairRouteDeps) {
    this.#deps = deps;
  }

  readonly answer = async ({ client, incoming, body }: Exchange): Promise<Reply> => {
    const paired = await this.pair(client, incoming.headers, body);
    return paired instanceof Reply ? paired : respond(PAIR, 200, { paired: true, token: paired.token });
  };

  /** The body is judged before the code is: a request that can't succeed must not use the code up. */
  async pair(
    client: Client,
    headers: IncomingHttpHeaders,
    body: Buffer,
    wanted: WantedDevice = {},
  ): Promise<Paired | Reply> {
    const name = deviceName(body);
    if (name instanceof Reply) return name;
    const code = headers["x-pairing-code"];
    try {
      return await this.#deps.pairing.pair(typeof code === "string" ? code.trim() : "", client, {
        ...wanted,
        ...(name !== undefined && { name }),
      });
    } catch (error) {
      const reply = replyToError(error);
      if (reply.status === 500) {
        this.#deps.log.error("pairing failed: the device could not be stored", whatHappened(error));
      }
      return reply;
    }
  }
}

function deviceName(body: Buffer): string | undefined | Reply {
  if (body.length === 0) return undefined;
  const value = parseJson(body);
  if (value === undefined) return errorReply("BAD_JSON");
  const parsed = v.safeParse(PairRequest, value);
  // To valibot a list is an object too.
  return parsed.success && !Array.isArray(value) ? (parsed.output.device_name ?? undefined) : BAD_NAME;
}

function whatHappened(error: unknown): { cause: string } {
  const cause = error instanceof Error ? error.cause : undefined;
  return { cause: cause instanceof Error ? cause.message : "unknown" };
}
