/** Paired devices: who they are, and how one is shut out. */
import { SvcError, type Json } from "@svc/contract";
import type { Device } from "@svc/store";
import * as v from "valibot";
import { jsonReply } from "../http/reply.ts";
import type { PairedDevices } from "../types.ts";
import type { ApiRoute } from "./app.ts";
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

export const DEVICE_SPECS = [LIST, REVOKE];

export function deviceRoutes(devices: PairedDevices): ApiRoute[] {
  return [
    {
      ...LIST,
      handle: ({ device: asking }) =>
        jsonReply(200, { devices: devices.list().map((device) => shown(device, device.id === asking.id)) }),
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
