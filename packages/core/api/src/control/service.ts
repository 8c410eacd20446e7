/** The daemon, its devices, secrets and model, and the routes of features. */
import { integer, type Route, type RouteEvent } from "@svc/contract";
import * as v from "valibot";
import { FeatureReport, StatusReport } from "../reports.ts";
import { anyJson, type Output, undescribed } from "../schema.ts";
import { ModelTest } from "../settings.ts";
import { type Message, nothing, personalName, typed } from "./message.ts";

export const ReloadReport = v.object({
  changed: v.pipe(v.array(v.string()), v.description("Names of the sections that differ.")),
  features: v.pipe(v.array(v.string()), v.description("Features that were registered anew.")),
  restart: v.pipe(v.array(v.string()), v.description("Keys whose change is in force only after a restart.")),
  warnings: v.array(v.string()),
});
export type ReloadReport = Output<typeof ReloadReport>;

export const DeviceLine = v.object({
  id: v.string(),
  name: v.string(),
  scope: v.picklist(["operator", "webhook", "read"]),
  created_at: v.string(),
  last_seen_at: v.nullable(v.string()),
});
export type DeviceLine = Output<typeof DeviceLine>;

/** As the feature tells it, with the device in place of the client. */
export const PasskeyLine = v.objectWithRest(
  {
    id: v.string(),
    user_id: v.string(),
    user_name: v.string(),
    name: v.string(),
    created_at: v.string(),
    last_used_at: v.nullable(v.string()),
    suspect: v.boolean(),
    device: v.nullable(v.object({ id: v.string(), name: v.string() })),
  },
  anyJson,
);
export type PasskeyLine = Output<typeof PasskeyLine>;

export const ModelReport = v.object({
  agent: v.string(),
  ...ModelTest.entries,
  input_tokens: integer(0),
  output_tokens: integer(0),
  cost_usd: v.nullable(v.number()),
  price_known: v.boolean(),
});
export type ModelReport = Output<typeof ModelReport>;

/** What only the daemon can tell `svc doctor`. What JSON can't say is left out. */
export const DaemonReport = v.object({
  uid: v.pipe(v.optional(integer(0)), v.description("Left out where the system has no users.")),
  changed: v.pipe(
    v.optional(v.array(v.string())),
    v.description("Sections of the file that differ from what is in force; left out: the file can't be loaded."),
  ),
  restart: v.pipe(v.array(v.string()), v.description("Keys that a restart would change.")),
  untrustedForwarding: v.pipe(
    v.boolean(),
    v.description("A request came with forwarding headers that are not trusted."),
  ),
  pairingCodes: v.pipe(integer(0), v.description("Pairing codes that somebody could come in with.")),
  newestMs: v.pipe(v.optional(v.number()), v.description("Of the newest thing that was kept.")),
  dumpsCore: v.pipe(
    v.optional(v.boolean()),
    v.description("A crash would write the memory, secrets included, to the disk. Left out: it can't be told."),
  ),
  findings: v.pipe(
    v.array(
      v.object({
        id: v.string(),
        level: v.picklist(["ok", "note", "warning", "error"]),
        message: v.string(),
        fix: v.optional(v.string()),
      }),
    ),
    v.description("Of the checks of settings, over what is in force."),
  ),
});
export type DaemonReport = Output<typeof DaemonReport>;

const DEVICE_NAME = personalName("A device's name is 1 to 64 printable characters.");
const PASSKEY_NAME = personalName("A passkey's name is 1 to 64 printable characters.");

const METHODS = ["GET", "POST", "PUT", "DELETE"] as const satisfies readonly Route["method"][];

/** For a route of a feature, as the feature writes its path. */
const question = v.object({
  method: v.picklist(METHODS),
  path: v.string(),
  params: v.exactOptional(v.record(v.string(), v.string())),
  query: v.exactOptional(v.record(v.string(), v.string())),
  body: v.exactOptional(anyJson),
});

export interface FeatureStreamEvent {
  readonly type: "event";
  readonly event: RouteEvent;
}

export const SERVICE = {
  ping: { input: nothing, output: v.object({ ok: v.literal(true) }) },
  status: { input: nothing, output: StatusReport },
  features: { input: nothing, output: FeatureReport },
  reload: { input: nothing, output: ReloadReport },
  restart: {
    input: nothing,
    output: v.object({ restarting: v.pipe(v.boolean(), v.description("False: it does so already.")) }),
  },
  doctor: { input: v.object({ security: v.optional(v.boolean(), false) }), output: DaemonReport },
  backup: {
    /** Absolute path. */
    input: v.object({ file: v.string() }),
    output: v.object({ file: v.string() }),
  },
  restore: {
    /** Name of the folder in the home with the unpacked files. */
    input: v.object({ folder: v.string() }),
    output: v.object({ restoring: v.literal(true) }),
  },
  pair: {
    input: v.object({
      scope: v.optional(
        typed(["operator", "webhook", "read"], "The scope must be operator, webhook or read."),
        "operator",
      ),
      name: v.exactOptional(v.string()),
    }),
    output: v.object({
      code: v.string(),
      expires_at: v.string(),
      url: v.string(),
      link: v.string(),
      remote_link: v.nullable(v.string()),
    }),
  },
  devices: { input: nothing, output: v.object({ devices: v.array(DeviceLine) }) },
  "device-rename": { input: v.object({ id: v.string(), name: DEVICE_NAME }), output: DeviceLine },
  "device-revoke": { input: v.object({ id: v.string() }), output: DeviceLine },
  passkeys: {
    input: v.object({ user_id: v.exactOptional(v.string()) }),
    output: v.object({ passkeys: v.array(PasskeyLine) }),
  },
  "passkey-rename": { input: v.object({ id: v.string(), name: PASSKEY_NAME }), output: PasskeyLine },
  "passkey-remove": {
    input: v.object({ id: v.string() }),
    output: v.objectWithRest({ ...PasskeyLine.entries, left_of_user: integer(0) }, anyJson),
  },
  "secrets-rotate": {
    input: nothing,
    output: v.object({
      sealed: v.pipe(v.array(v.string()), v.description("Keys of the config whose values were sealed anew.")),
      resumed: v.pipe(v.boolean(), v.description("An interrupted rotation was finished.")),
    }),
  },
  "model-test": { input: v.object({ agent: v.exactOptional(v.string()) }), output: ModelReport },
  "feature-route": { input: question, output: anyJson },
  "feature-stream": { input: question, output: undescribed<null>() },
} satisfies Readonly<Record<string, Message>>;
