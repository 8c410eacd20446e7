/** PairedToken devices, their sign-ins, and pairing. */
import { DEVICE_NAME_PATTERN } from "@svc/contract";
import * as v from "valibot";
import { name, time, type Output } from "./schema.ts";

export const DeviceName = v.pipe(
  v.string(),
  v.regex(DEVICE_NAME_PATTERN),
  v.description("1 to 64 printable characters, not all of them blank."),
  v.trim(),
);

const SCOPES = ["operator", "webhook", "read"] as const;

export const PairedDevice = v.object({
  id: name("For DELETE /api/devices/{id}."),
  name: v.string(),
  scope: v.picklist(SCOPES),
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
export type PairedDevice = Output<typeof PairedDevice>;

export const DeviceList = v.object({ devices: v.array(PairedDevice) });
export type DeviceList = Output<typeof DeviceList>;

export const DeviceRename = v.object({ name: DeviceName });
export type DeviceRename = Output<typeof DeviceRename>;

export const DeviceRevoked = v.object({ id: v.string(), revoked: v.literal(true) });
export type DeviceRevoked = Output<typeof DeviceRevoked>;

export const SignInEnded = v.object({ id: v.string(), ended: v.literal(true) });
export type SignInEnded = Output<typeof SignInEnded>;

export const PairingCodeRequest = v.object({
  scope: v.optional(
    v.pipe(v.picklist(SCOPES), v.description("What the device may do. Default: operator.")),
    "operator",
  ),
  name: v.nullish(DeviceName),
});
export type PairingCodeRequest = Output<typeof PairingCodeRequest>;

export const NewPairingCode = v.object({
  code: v.pipe(v.string(), v.regex(/^\d{6}$/)),
  expires_at: time(),
  link: v.pipe(
    v.nullable(v.string()),
    v.description("Signs a browser of another machine in by one click; null: other machines can't reach the page."),
  ),
});
export type NewPairingCode = Output<typeof NewPairingCode>;

/** The body of `POST /pair` and of a sign-in by a code. */
export const PairRequest = v.object({ device_name: v.nullish(DeviceName) });
export type PairRequest = Output<typeof PairRequest>;

export const PairingCode = v.pipe(v.string(), v.regex(/^\d{6}$/), v.description("Six digits."));

export const PairedToken = v.object({
  paired: v.literal(true),
  token: v.pipe(v.string(), v.regex(/^svc_[0-9a-f]{64}$/)),
});
export type PairedToken = Output<typeof PairedToken>;
