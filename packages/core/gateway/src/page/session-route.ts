/** `/api/session`, apart from the bytes on the wire. */
import type { IncomingHttpHeaders } from "node:http";
import type { Device } from "@svc/store";
import type { Authenticator } from "../auth/authenticator.ts";
import { tokenOnly } from "../auth/credentials.ts";
import type { PageSessions } from "../auth/page-sessions.ts";
import type { Principal } from "../auth/principal.ts";
import { NO_SESSION_COOKIE } from "../auth/session-cookie.ts";
import type { Devices } from "../auth/devices.ts";
import { refuseContentType } from "../http/json.ts";
import { errorReply, jsonReply, Reply, replyToError } from "../http/reply.ts";
import type { Client, ClientResolver } from "../net/client.ts";
import type { Peer } from "../net/peer.ts";
import type { PairRoute } from "../pairing/route.ts";
import { browserName } from "./browser-name.ts";
import { isOwnPage, isSurelyOwnPage } from "./own-page.ts";
import { openedPage, openPage, shownDevice } from "./open-page.ts";

export interface SessionRouteDeps {
  readonly authenticator: Authenticator;
  readonly clientOf: ClientResolver;
  readonly devices: Pick<Devices, "revoke">;
  readonly pageSessions: PageSessions;
  readonly pair: PairRoute;
  /** Features that sign a page in by themselves, those that are down apart. */
  readonly ways: () => readonly string[];
}

/** Whose sign-in it will be: a device's that is known, or that of one a pairing code makes. `Reply`: it is decided. */
type Admitted = { readonly device: Device } | { readonly client: Client };

const SIGNED_OUT = new Reply(204, "text/plain", "", ["set-cookie", NO_SESSION_COOKIE]);

export class SessionRoute {
  readonly #deps: SessionRouteDeps;

  constructor(deps: SessionRouteDeps) {
    this.#deps = deps;
  }

  /** What is decided before the body. A foreign Origin was refused at the door. */
  admit(headers: IncomingHttpHeaders, peer: Peer, hasBody: boolean): Admitted | Reply {
    if (!isOwnPage(headers)) return errorReply("BAD_ORIGIN");
    const { authenticator, clientOf, pair } = this.#deps;
    if (headers.authorization === undefined && headers["x-pairing-code"] !== undefined) {
      const client = pair.admit(headers, peer, hasBody);
      return client instanceof Reply ? client : { client };
    }
    // Where a page came by plain http, its browser marks no GET as its own; a POST it does.
    if (headers.authorization === undefined && headers.cookie !== undefined) return this.#resume(headers, peer);
    const principal = authenticator.require(tokenOnly(headers), clientOf(headers, peer), "read");
    if (principal instanceof Reply) return principal;
    return (hasBody ? refuseContentType(headers) : undefined) ?? { device: principal.device };
  }

  /** Whatever cookie came with the request has no say: a value that somebody planted is never taken for a sign-in. */
  async signIn(admitted: Admitted, headers: IncomingHttpHeaders, body: Buffer): Promise<Reply> {
    if ("device" in admitted) return this.#open(admitted.device, headers);
    const device = await this.#pair(admitted.client, headers, body);
    if (device instanceof Reply) return device;
    const reply = await this.#open(device, headers);
    // Nobody was told its token: without a sign-in it would be a device that nobody can use.
    if (reply.status !== 200) await this.#deps.devices.revoke(device.id).catch(() => {});
    return reply;
  }

  /** With the cookie alone, from our own page: the second secret, so that the page stays signed in. */
  signedIn(headers: IncomingHttpHeaders, peer: Peer): Reply {
    const isBare = headers.authorization === undefined && headers["x-svc-csrf"] === undefined;
    if (isBare && isSurelyOwnPage(headers)) return this.#resume(headers, peer);
    const principal = this.#require(headers, peer);
    return principal instanceof Reply ? principal : jsonReply(200, { device: shownDevice(principal.device) });
  }

  /** A promise only where something has to be stored. */
  signOut(headers: IncomingHttpHeaders, peer: Peer): Reply | Promise<Reply> {
    const principal = this.#require(headers, peer);
    if (principal instanceof Reply) return principal;
    if (principal.signIn === undefined) return SIGNED_OUT;
    return this.#deps.pageSessions.end(principal.signIn).then(() => SIGNED_OUT, replyToError);
  }

  ways(): Reply {
    return jsonReply(200, { features: [...this.#deps.ways()] });
  }

  #resume({ cookie, ...headers }: IncomingHttpHeaders, peer: Peer): Reply {
    const { authenticator, clientOf, pageSessions } = this.#deps;
    const found = authenticator.resume(cookie, clientOf(headers, peer));
    if (found instanceof Reply) return found;
    const { body, setCookie } = openedPage(pageSessions, found);
    return jsonReply(200, body, setCookie);
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
      return jsonReply(200, body, setCookie);
    } catch (error) {
      return replyToError(error);
    }
  }
}
