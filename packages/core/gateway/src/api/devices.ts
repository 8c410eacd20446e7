/** Paired devices: who they are, what they are called, and how one is shut out. */
import { SvcError, type Json } from "@svc/contract";
import type { Device } from "@svc/store";
import * as v from "valibot";
import { jsonReply, Reply } from "../http/reply.ts";
import { DEVICE_NAME } from "../pairing/device-name.ts";
import type { PairedDevices } from "../types.ts";
import type { ApiRoute } from "./app.ts";
import { type BodyLimits, jsonBody } from "./body.ts";
import { name, time } from "./fields.ts";

const DEVICE = v.object({
  id: name("For DELETE /api/devices/{id}."),
  name: v.string(),
  scope: v.picklist(["operator", "webhook", "read"]),
  created_at: time(),
  last_seen_at: v.nullable(time("UTC, to the minute; null: never.")),
  current: v.pipe(v.boolean(), v.description("It is the device that asks.")),
});

const LIST: Omit<ApiRoute, "handle"> = {
  method: "GET",
  path: "/api/devices",
  access: "operate",
  summary: "Lists the paired devices.",
  answers: { 200: { description: "The devices.", body: v.object({ devices: v.array(DEVICE) }) } },
};

const NAME_BODY = v.object({ name: DEVICE_NAME });

const RENAME: Omit<ApiRoute, "handle"> = {
  method: "PUT",
  path: "/api/devices/{id}/name",
  access: "operate",
  summary: "Gives a device another name.",
  params: { id: name("The device's id.") },
  body: NAME_BODY,
  answers: { 200: { description: "The device.", body: DEVICE } },
  errors: ["DEVICE_UNKNOWN", "STORE_FULL", "STORE_FAILED"],
};

const REVOKE: Omit<ApiRoute, "handle"> = {
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

export const DEVICE_SPECS = [LIST, RENAME, REVOKE];

export function deviceRoutes(devices: PairedDevices, limits: BodyLimits): ApiRoute[] {
  return [
    {
      ...LIST,
      handle: ({ device: asking }) =>
        jsonReply(200, { devices: devices.list().map((device) => shown(device, device.id === asking.id)) }),
    },
    {
      ...RENAME,
      async handle(request) {
        const body = await jsonBody(request, NAME_BODY, limits);
        if (body instanceof Reply) return body;
        const id = request.params["id"] ?? "";
        const isKnown = await devices.rename(id, (body as v.InferOutput<typeof NAME_BODY>).name);
        const renamed = isKnown ? devices.list().find((device) => device.id === id) : undefined;
        if (!renamed) throw new SvcError("DEVICE_UNKNOWN");
        return jsonReply(200, shown(renamed, id === request.device.id));
      },
    },
    {
      ...REVOKE,
      async handle({ device, params, env, release }) {
        const id = params["id"] ?? "";
        if (id === device.id) {
          // Who shuts itself out is told so, and then its connection ends like every other one of it.
          release();
          env.outgoing.shouldKeepAlive = false;
        }
        if (!(await devices.revoke(id))) throw new SvcError("DEVICE_UNKNOWN");
        return jsonReply(200, { id, revoked: true });
      },
    },
  ];
}

/** The ClientId and the token's hash stay inside. */
function shown({ id, name, scope, createdAt, lastSeenAt }: Device, current: boolean): Json {
  return {
    id,
    name,
    scope,
    created_at: new Date(createdAt).toISOString(),
    last_seen_at: lastSeenAt === undefined ? null : new Date(lastSeenAt).toISOString(),
    current,
  };
}
