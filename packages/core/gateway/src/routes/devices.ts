/** Paired devices, their sign-ins, and codes that pair one more. */
import {
  DeviceList,
  DeviceRename,
  DeviceRevoked,
  name,
  NewPairingCode,
  PairedDevice,
  PairingCodeRequest,
  SignInEnded,
} from "@svc/api";
import { type Logger, SvcError } from "@svc/contract";
import type { Device } from "@svc/store";
import type { PairedDevices, Principal } from "../auth/authenticator.ts";
import type { ListedSignIn, PageSessions } from "../auth/page-sessions.ts";
import type { Pairing, PairingLinks } from "../auth/pairing.ts";
import { Reply } from "../http/reply.ts";
import { apiRoute, type ApiRoute, type ApiSpec, type BodyLimits, jsonBody, respond } from "./route.ts";

const LIST = {
  method: "GET",
  path: "/api/devices",
  access: "operate",
  summary: "Lists the paired devices.",
  answers: { 200: { description: "The devices.", body: DeviceList } },
} satisfies ApiSpec;

const RENAME = {
  method: "PUT",
  path: "/api/devices/{id}/name",
  access: "operate",
  summary: "Gives a device another name.",
  params: { id: name("The device's id.") },
  body: DeviceRename,
  answers: { 200: { description: "The device.", body: PairedDevice } },
  errors: ["DEVICE_UNKNOWN", "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

const REVOKE = {
  method: "DELETE",
  path: "/api/devices/{id}",
  access: "operate",
  summary: "Revokes a device: its token, its turns and its connections end at once.",
  params: { id: name("The device's id.") },
  answers: {
    200: { description: "It is shut out, for good.", body: DeviceRevoked },
  },
  errors: ["DEVICE_UNKNOWN", "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

const END_SESSION = {
  method: "DELETE",
  path: "/api/devices/{id}/sessions/{session}",
  access: "operate",
  summary: "Signs one page of a device out: its streams and its requests end at once. The device stays paired.",
  params: { id: name("The device's id."), session: name("The id of the sign-in.") },
  answers: {
    200: { description: "It is signed out.", body: SignInEnded },
  },
  errors: ["SESSION_UNKNOWN", "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

export const DEVICE_SPECS = [LIST, RENAME, REVOKE, END_SESSION];

export interface DeviceRouteDeps {
  readonly devices: PairedDevices;
  readonly pageSessions: Pick<PageSessions, "list" | "endOne">;
  readonly bodies: BodyLimits;
}

export function deviceRoutes({ devices, pageSessions, bodies }: DeviceRouteDeps): ApiRoute[] {
  const shown = (device: Device, { device: asking, signIn }: Principal): PairedDevice => ({
    ...shownDevice(device, device.id === asking.id),
    sessions: pageSessions.list(device.id).map((session) => shownSession(session, session.id === signIn?.id)),
  });
  return [
    apiRoute(LIST, ({ principal }) =>
      respond(LIST, 200, { devices: devices.list().map((device) => shown(device, principal)) }),
    ),
    apiRoute(RENAME, async (request) => {
      const body = await jsonBody(request, DeviceRename, bodies);
      if (body instanceof Reply) return body;
      const id = request.params["id"] ?? "";
      const isKnown = await devices.rename(id, body.name);
      const renamed = isKnown ? devices.list().find((device) => device.id === id) : undefined;
      if (!renamed) throw new SvcError("DEVICE_UNKNOWN");
      return respond(RENAME, 200, shown(renamed, request.principal));
    }),
    apiRoute(REVOKE, async ({ device, params, env, release }) => {
      const id = params["id"] ?? "";
      if (id === device.id) {
        // A device that revokes itself gets the answer first; then its connection ends like its other ones.
        release();
        env.outgoing.shouldKeepAlive = false;
      }
      if (!(await devices.revoke(id))) throw new SvcError("DEVICE_UNKNOWN");
      return respond(REVOKE, 200, { id, revoked: true });
    }),
    apiRoute(END_SESSION, async ({ principal, params, env, release }) => {
      const { id = "", session = "" } = params;
      if (session === principal.signIn?.id) {
        // As above: the answer comes first.
        release();
        env.outgoing.shouldKeepAlive = false;
      }
      if (!(await pageSessions.endOne(id, session))) throw new SvcError("SESSION_UNKNOWN", NO_SUCH_SIGN_IN);
      return respond(END_SESSION, 200, { id: session, ended: true });
    }),
  ];
}

const NO_SUCH_SIGN_IN = "The device has no such sign-in; it may have ended already.";

const shownSession = ({ id, browser, createdAtMs, seenAtMs }: ListedSignIn, current: boolean) => ({
  id,
  browser,
  created_at: new Date(createdAtMs).toISOString(),
  last_seen_at: new Date(seenAtMs).toISOString(),
  current,
});

/** The ClientId and the token's hash stay inside. */
function shownDevice({ id, name, scope, createdAt, lastSeenAt }: Device, current: boolean) {
  return {
    id,
    name,
    scope,
    created_at: new Date(createdAt).toISOString(),
    last_seen_at: lastSeenAt === undefined ? null : new Date(lastSeenAt).toISOString(),
    current,
  };
}

// Codes that an operator makes in the page, for further devices.

const ISSUE = {
  method: "POST",
  path: "/api/pairing-codes",
  access: "operate",
  summary: "Makes a pairing code for one more device.",
  details: "One use, ten minutes. At most eight codes work at a time; a further one ends the oldest.",
  body: PairingCodeRequest,
  answers: {
    200: {
      description: "The code.",
      body: NewPairingCode,
    },
  },
} satisfies ApiSpec;

export const PAIRING_CODE_SPECS = [ISSUE];

export interface PairingCodeDeps {
  readonly pairing: Pick<Pairing, "issueCode">;
  readonly linksOf: (code: string) => PairingLinks;
  readonly bodies: BodyLimits;
  readonly log: Logger;
}

export const pairingCodeRoutes = ({ pairing, linksOf, bodies, log }: PairingCodeDeps): ApiRoute[] => [
  apiRoute(ISSUE, async (request) => {
    const body = await jsonBody(request, PairingCodeRequest, bodies);
    if (body instanceof Reply) return body;
    const { scope, name } = body;
    const { code, expiresAt } = pairing.issueCode({ scope, name: name ?? undefined });
    // A stolen page could pair a device of its own this way: the log names the device that asked.
    log.info("a pairing code was made", { scope, device: request.device.id });
    return respond(ISSUE, 200, {
      code,
      expires_at: new Date(expiresAt).toISOString(),
      link: linksOf(code).remote ?? null,
    });
  }),
];
