/** Paired devices for `svc devices`: listed, renamed, revoked. */
import type { DeviceLine } from "@svc/api/control";
import { SvcError } from "@svc/contract";
import type { Device } from "@svc/store";
import type { Handlers } from "../control.ts";
import { byPrefix } from "./input.ts";

/** Where devices are kept: the gateway, which also closes the streams of one that is revoked, or the store alone. */
export interface DeviceBook {
  list(): readonly Device[];
  /** Resolves once it is on disk, with whether there is such a device. */
  rename(id: string, name: string): Promise<boolean>;
  revoke(id: string): Promise<boolean>;
}

export function deviceHandlers(devices: DeviceBook): Pick<Handlers, "devices" | "device-rename" | "device-revoke"> {
  const find = (id: string): Device => byPrefix(devices.list(), id, "DEVICE_UNKNOWN", ({ name }) => name);
  return {
    devices: () => ({ devices: devices.list().map(shown) }),
    "device-rename": async ({ body: { id, name } }) => {
      const device = find(id);
      if (!(await devices.rename(device.id, name))) throw new SvcError("DEVICE_UNKNOWN");
      return shown({ ...device, name });
    },
    "device-revoke": async ({ body: { id } }) => {
      const device = find(id);
      // Somebody else may have been quicker; gone is gone.
      await devices.revoke(device.id);
      return shown(device);
    },
  };
}

/** The ClientId and the token's hash stay inside. */
function shown({ id, name, scope, createdAt, lastSeenAt }: Device): DeviceLine {
  return {
    id,
    name,
    scope,
    created_at: new Date(createdAt).toISOString(),
    last_seen_at: lastSeenAt === undefined ? null : new Date(lastSeenAt).toISOString(),
  };
}
