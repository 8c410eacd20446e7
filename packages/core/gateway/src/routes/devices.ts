/** Paired devices, their sign-ins, and codes that pair one more. */
import { type Json, type Logger, SvcError } from "@svc/contract";
import type { Device } from "@svc/store";
import * as v from "valibot";
import type { Principal } from "../auth/authenticator.ts";
import { DEVICE_NAME, type PairedDevices } from "../auth/devices.ts";
import type { ListedSignIn, PageSessions } from "../auth/page-sessions.ts";
import type { Pairing, PairingLinks } from "../auth/pairing.ts";
import { jsonReply, Reply } from "../http/reply.ts";
import { name, time } from "./fields.ts";
import { type ApiRoute, type ApiSpec, type BodyLimits, jsonBody } from "./route.ts";

const DEVICE = v.object({
  id: name("For DELETE /api/devices/{id}."),
  name: v.string(),
  scope: v.picklist(["operator", "webhook", "read"]),
  created_at: time(),
  last_seen_at: v.nullable(time("UTC, to the minute; null: never.")),
  current: v.pipe(v.boolean(), v.description("It is the device that asks.")),
  sessions: v.pipe(
    v.array(
      v.object({
        id: name("For DELETE /api/devices/{id}/sessions/{session}."),
        browser: v.string(),
        created_at: time(),
        last_seen_at: time(),
        current: v.pipe(v.boolean(), v.description("It is the sign-in that asks.")),
      }),
    ),
    v.description("Pages that are signed in as this device, the most recently seen first."),
  ),
});

const LIST: ApiSpec = {
  method: "GET",
  path: "/api/devices",
  access: "operate",
  summary: "Lists the paired devices.",
  answers: { 200: { description: "The devices.", body: v.object({ devices: v.array(DEVICE) }) } },
};

const NAME_BODY = v.object({ name: DEVICE_NAME });

const RENAME: ApiSpec = {
  method: "PUT",
  path: "/api/devices/{id}/name",
  access: "operate",
  summary: "Gives a device another name.",
  params: { id: name("The device's id.") },
  body: NAME_BODY,
  answers: { 200: { description: "The device.", body: DEVICE } },
  errors: ["DEVICE_UNKNOWN", "STORE_FULL", "STORE_FAILED"],
};

const REVOKE: ApiSpec = {
  method: "DELETE",
  path: "/api/devices/{id}",
  access: "operate",
  summary: "Revokes a device: its token, its turns and its connections end at once.",
  params: { id: name("The device's id.") },
  answers: {
    200: { description: "It is shut out, for good.", body: v.object({ id: v.string(), revoked: v.literal(true) }) },
  },
  errors: ["DEVICE_UNKNOWN", "STORE_FULL", "STORE_FAILED"],
};

const END_SESSION: ApiSpec = {
  method: "DELETE",
  path: "/api/devices/{id}/sessions/{session}",
  access: "operate",
  summary: "Signs one page of a device out: its streams and its requests end at once. The device stays paired.",
  params: { id: name("The device's id."), session: name("The id of the sign-in.") },
  answers: {
    200: { description: "It is signed out.", body: v.object({ id: v.string(), ended: v.literal(true) }) },
  },
  errors: ["SESSION_UNKNOWN", "STORE_FULL", "STORE_FAILED"],
};

export const DEVICE_SPECS = [LIST, RENAME, REVOKE, END_SESSION];

export interface DeviceRouteDeps {
  readonly devices: PairedDevices;
  readonly pageSessions: Pick<PageSessions, "list" | "endOne">;
  readonly bodies: BodyLimits;
}

export function deviceRoutes({ devices, pageSessions, bodies }: DeviceRouteDeps): ApiRoute[] {
  const shown = (device: Device, { device: asking, signIn }: Principal): Json => ({
    ...shownDevice(device, device.id === asking.id),
    sessions: pageSessions.list(device.id).map((session) => shownSession(session, session.id === signIn?.id)),
  });
  return [
    {
      ...LIST,
      handle: ({ principal }) => jsonReply(200, { devices: devices.list().map((device) => shown(device, principal)) }),
    },
    {
      ...RENAME,
      async handle(request) {
        const body = await jsonBody(request, NAME_BODY, bodies);
        if (body instanceof Reply) return body;
        const id = request.params["id"] ?? "";
        const isKnown = await devices.rename(id, (body as v.InferOutput<typeof NAME_BODY>).name);
        const renamed = isKnown ? devices.list().find((device) => device.id === id) : undefined;
        if (!renamed) throw new SvcError("DEVICE_UNKNOWN");
        return jsonReply(200, shown(renamed, request.principal));
      },
    },
    {
      ...REVOKE,
      async handle({ device, params, env, release }) {
        const id = params["id"] ?? "";
        if (id === device.id) {
          // A device that revokes itself gets the answer first; then its connection ends like its other ones.
          release();
          env.outgoing.shouldKeepAlive = false;
        }
        if (!(await devices.revoke(id))) throw new SvcError("DEVICE_UNKNOWN");
        return jsonReply(200, { id, revoked: true });
      },
    },
    {
      ...END_SESSION,
      async handle({ principal, params, env, release }) {
        const { id = "", session = "" } = params;
        if (session === principal.signIn?.id) {
          // As above: the answer comes first.
          release();
          env.outgoing.shouldKeepAlive = false;
        }
        if (!(await pageSessions.endOne(id, session))) throw new SvcError("SESSION_UNKNOWN", NO_SUCH_SIGN_IN);
        return jsonReply(200, { id: session, ended: true });
      },
    },
  ];
}

const NO_SUCH_SIGN_IN = "The device has no such sign-in; it may have ended already.";

const shownSession = ({ id, browser, createdAtMs, seenAtMs }: ListedSignIn, current: boolean): Json => ({
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

const BODY = v.object({
  scope: v.optional(
    v.pipe(v.picklist(["operator", "webhook", "read"]), v.description("What the device may do. Default: operator.")),
    "operator",
  ),
  name: v.nullish(DEVICE_NAME),
});

const ISSUE: ApiSpec = {
  method: "POST",
  path: "/api/pairing-codes",
  access: "operate",
  summary: "Makes a pairing code for one more device.",
  details: "One use, ten minutes. At most eight codes work at a time; a further one ends the oldest.",
  body: BODY,
  answers: {
    200: {
      description: "The code.",
      body: v.object({
        code: v.pipe(v.string(), v.regex(/^\d{6}$/)),
        expires_at: time(),
        link: v.pipe(
          v.nullable(v.string()),
          v.description(
            "Signs a browser of another machine in by one click; null: other machines can't reach the page.",
          ),
        ),
      }),
    },
  },
};

export const PAIRING_CODE_SPECS = [ISSUE];

export interface PairingCodeDeps {
  readonly pairing: Pick<Pairing, "issueCode">;
  readonly linksOf: (code: string) => PairingLinks;
  readonly bodies: BodyLimits;
  readonly log: Logger;
}

export const pairingCodeRoutes = ({ pairing, linksOf, bodies, log }: PairingCodeDeps): ApiRoute[] => [
  {
    ...ISSUE,
    async handle(request) {
      const body = await jsonBody(request, BODY, bodies);
      if (body instanceof Reply) return body;
      const { scope, name } = body as v.InferOutput<typeof BODY>;
      const { code, expiresAt } = pairing.issueCode({ scope, name: name ?? undefined });
      // A stolen page could pair a device of its own this way: the log names the device that asked.
      log.info("a pairing code was made", { scope, device: request.device.id });
      return jsonReply(200, {
        code,
        expires_at: new Date(expiresAt).toISOString(),
        link: linksOf(code).remote ?? null,
      });
    },
  },
];
