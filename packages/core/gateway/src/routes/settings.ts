/** The config file as the page edits it, with its versions, and tests of models and channels. */
import { type Clock, integer, type Json } from "@svc/contract";
import * as v from "valibot";
import type { GenericSchema } from "valibot";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import type { SlidingWindow } from "../rate-limit.ts";
import { name, time } from "./fields.ts";
import { type ApiRequest, type ApiRoute, type ApiSpec, type BodyLimits, jsonBody } from "./route.ts";

const PATH = v.pipe(
  v.array(v.union([v.pipe(v.string(), v.maxLength(200)), integer(0, 100_000)])),
  v.minLength(1),
  v.maxLength(20),
  v.description("Names of tables and keys, numbers for items of a list."),
);

const EDIT = v.union([
  v.strictObject({ path: PATH, remove: v.literal(true) }),
  v.strictObject({
    path: PATH,
    value: v.pipe(
      v.union([v.string(), v.number(), v.boolean(), v.array(v.unknown()), v.record(v.string(), v.unknown())]),
      v.description("Never null, nor is anything in it."),
    ),
  }),
]);

const EDITS = v.pipe(v.array(EDIT), v.minLength(1), v.maxLength(200));
const REVISION = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{32}$/),
  v.description("Of the file that the change was made for."),
);

const CHANGE_BODY = v.union([
  v.strictObject({ edits: EDITS }),
  v.strictObject({ undo: v.pipe(integer(1), v.description("The version to undo.")) }),
]);
const SAVE_BODY = v.strictObject({ revision: REVISION, edits: EDITS });
const UNDO_BODY = v.strictObject({ revision: REVISION });
const TRY_BODY = v.strictObject({
  edits: v.pipe(v.array(EDIT), v.maxLength(200), v.description("Of the file, tried and not written.")),
  agent: v.optional(name("The agent whose model is meant. Default: default.")),
});
const SEND_BODY = v.strictObject({
  channel: name("The channel's id."),
  to: name("Who is written to, as the channel names conversations."),
});

export type ChangeBody = v.InferOutput<typeof CHANGE_BODY>;
export type SaveBody = v.InferOutput<typeof SAVE_BODY>;
export type TryBody = v.InferOutput<typeof TRY_BODY>;
export type SendBody = v.InferOutput<typeof SEND_BODY>;

const PROBLEM = v.object({
  code: v.string(),
  key: v.pipe(v.string(), v.description("Dotted; empty: the file as a whole.")),
  message: v.string(),
  line: v.nullable(integer(1)),
  column: v.nullable(integer(1)),
  allowed: v.nullable(v.string()),
  did_you_mean: v.nullable(v.string()),
  env: v.pipe(v.nullable(v.string()), v.description("The variable to blame.")),
});

export const DIFF = v.array(
  v.object({ kind: v.picklist(["same", "added", "removed", "gap"]), line: integer(1), text: v.string() }),
);

const VERSION = v.object({ version: integer(1), at: time(), by: v.string(), keys: v.array(v.string()) });

const SETTINGS_BODY = v.object({
  file: v.string(),
  revision: v.string(),
  unwritable: v.pipe(v.nullable(v.string()), v.description("Why the file can't be written; null: it can.")),
  sections: v.pipe(v.array(v.unknown()), v.description("What the config of this build may hold, for forms.")),
  values: v.pipe(v.record(v.string(), v.unknown()), v.description("As in the file, without its secrets.")),
  secrets: v.pipe(v.array(v.string()), v.description("Keys whose secret is set.")),
  environment: v.pipe(v.record(v.string(), v.string()), v.description("Key to the variable that sets it.")),
  problems: v.pipe(v.array(PROBLEM), v.description("Why the file as it stands does not load.")),
  absent: v.pipe(
    v.array(
      v.object({
        section: v.string(),
        flag: v.string(),
        build: v.pipe(v.string(), v.description("The command that makes this build with it.")),
        summary: v.string(),
        profiles: v.array(v.string()),
        planned: v.boolean(),
      }),
    ),
    v.description("Sections of features that this build does not have."),
  ),
  aliases: v.pipe(v.record(v.string(), v.string()), v.description("A platform's own name to its section.")),
});

const PREVIEW_BODY = v.object({
  revision: v.string(),
  diff: v.pipe(DIFF, v.description("Secrets as dots.")),
  problems: v.pipe(v.array(PROBLEM), v.description("Nothing can be saved while there is one.")),
  warnings: v.array(v.string()),
});

const SAVED_BODY = v.object({
  version: v.pipe(v.nullable(integer(1)), v.description("Null: the file said so already.")),
  revision: v.string(),
  changed: v.pipe(v.array(v.string()), v.description("Sections that are in force anew.")),
  restart: v.pipe(v.array(v.string()), v.description("Keys whose change is in force after a restart.")),
  warnings: v.array(v.string()),
});

export type SettingsState = v.InferOutput<typeof SETTINGS_BODY>;
export type SettingsPreviewed = v.InferOutput<typeof PREVIEW_BODY>;
export type SettingsSaved = v.InferOutput<typeof SAVED_BODY>;
export type SettingsVersion = v.InferOutput<typeof VERSION>;
export type SettingsDiff = v.InferOutput<typeof DIFF>;

const REFUSED = ["BAD_REQUEST", "RATE_LIMITED", "SETTINGS_INVALID", "CONFIG_CHANGED", "CONFIG_UNWRITABLE"] as const;

const READ: ApiSpec = {
  method: "GET",
  path: "/api/settings",
  access: "operate",
  summary: "Shows the config file for forms: its schema, its values, and of each secret only whether it is set.",
  answers: { 200: { description: "The settings.", body: SETTINGS_BODY } },
};

const PREVIEW: ApiSpec = {
  method: "POST",
  path: "/api/settings/preview",
  access: "operate",
  summary: "Previews a change of the file, with its errors. Writes nothing.",
  body: CHANGE_BODY,
  answers: { 200: { description: "The change.", body: PREVIEW_BODY } },
  errors: ["BAD_REQUEST", "RATE_LIMITED", "VERSION_UNKNOWN"],
};

const SAVE: ApiSpec = {
  method: "PATCH",
  path: "/api/settings",
  access: "operate",
  summary: "Writes a change into the config file and puts it into force.",
  details:
    "Comments, order and everything else in the file stay. A change that can't be loaded or put into force leaves the file as it was.",
  body: SAVE_BODY,
  answers: { 200: { description: "It is in force.", body: SAVED_BODY } },
  errors: [...REFUSED, "SETTINGS_REFUSED"],
};

const VERSIONS: ApiSpec = {
  method: "GET",
  path: "/api/settings/versions",
  access: "operate",
  summary: "Lists the changes that were saved, the newest first.",
  answers: { 200: { description: "The last 50.", body: v.object({ versions: v.array(VERSION) }) } },
};

const VERSION_DIFF: ApiSpec = {
  method: "GET",
  path: "/api/settings/versions/{id}",
  access: "operate",
  summary: "Shows what a saved change did to the file.",
  params: { id: name("The version's number.") },
  answers: { 200: { description: "The change, secrets as dots.", body: v.object({ diff: DIFF }) } },
  errors: ["VERSION_UNKNOWN"],
};

const UNDO: ApiSpec = {
  method: "POST",
  path: "/api/settings/versions/{id}/undo",
  access: "operate",
  summary: "Puts the file back as it was before a saved change, and that into force.",
  params: { id: name("The version's number.") },
  body: UNDO_BODY,
  answers: { 200: { description: "It is in force.", body: SAVED_BODY } },
  errors: [...REFUSED, "SETTINGS_REFUSED", "VERSION_UNKNOWN"],
};

const MODELS: ApiSpec = {
  method: "POST",
  path: "/api/settings/models",
  access: "operate",
  summary: "Lists the models that a provider has, as the settings with these edits would ask it.",
  body: TRY_BODY,
  answers: {
    200: {
      description: "Their names, or the reason for an empty list.",
      body: v.object({ models: v.array(v.string()), error: v.nullable(v.string()) }),
    },
  },
  errors: ["BAD_REQUEST", "RATE_LIMITED", "SETTINGS_INVALID"],
};

const MODEL_TEST: ApiSpec = {
  method: "POST",
  path: "/api/settings/model-test",
  access: "operate",
  summary: "Asks the model one short question, as the settings with these edits would.",
  body: TRY_BODY,
  answers: {
    200: {
      description: "What came of it.",
      body: v.object({
        ok: v.boolean(),
        provider: v.string(),
        model: v.string(),
        latency_ms: v.number(),
        error: v.nullable(
          v.object({
            code: v.string(),
            message: v.string(),
            hint: v.nullable(v.string()),
            said: v.nullable(v.string()),
          }),
        ),
      }),
    },
  },
  errors: ["BAD_REQUEST", "RATE_LIMITED", "SETTINGS_INVALID", "AGENT_UNKNOWN"],
};

const CHANNEL_TEST: ApiSpec = {
  method: "POST",
  path: "/api/settings/channel-test",
  access: "operate",
  summary: "Sends a test message by a channel.",
  body: SEND_BODY,
  answers: {
    200: {
      description: "How far it came within five seconds; it goes on being sent.",
      body: v.object({
        state: v.string(),
        error: v.pipe(v.nullable(v.string()), v.description("Why it was not sent.")),
        hint: v.pipe(v.nullable(v.string()), v.description("What to do about it.")),
      }),
    },
  },
  errors: [
    "BAD_REQUEST",
    "RATE_LIMITED",
    "CHANNEL_UNKNOWN",
    "CHANNEL_DOWN",
    "CHANNEL_CANNOT",
    "STORE_FULL",
    "STORE_FAILED",
  ],
};

export const SETTINGS_SPECS = [READ, SAVE, PREVIEW, VERSIONS, VERSION_DIFF, UNDO, MODELS, MODEL_TEST, CHANNEL_TEST];

/** The config file as the page edits it. Rejects with SETTINGS_*, CONFIG_*, VERSION_UNKNOWN. */
export interface SettingsAdmin {
  read(): Promise<SettingsState>;
  preview(change: ChangeBody): Promise<SettingsPreviewed>;
  save(change: ChangeBody, revision: string, by: string): Promise<SettingsSaved>;
  versions(): Promise<readonly SettingsVersion[]>;
  changeOf(version: number): Promise<SettingsDiff>;
  models(request: TryBody, signal: AbortSignal): Promise<unknown>;
  testModel(request: TryBody, signal: AbortSignal): Promise<unknown>;
  testChannel(request: SendBody, signal: AbortSignal): Promise<unknown>;
}

/** By device. A preview loads the whole config; a test may cost money or write to a person. */
export interface SettingsLimits {
  readonly changes: SlidingWindow;
  readonly tests: SlidingWindow;
}

export interface SettingsRouteDeps {
  readonly settingsAdmin: SettingsAdmin;
  readonly settingsLimits: SettingsLimits;
  readonly bodies: BodyLimits;
  readonly clock: Clock;
}

export function settingsRoutes({
  settingsAdmin: admin,
  settingsLimits: limits,
  bodies,
  clock,
}: SettingsRouteDeps): ApiRoute[] {
  const limited = (request: ApiRequest, window: SlidingWindow): Reply | undefined => {
    const waitMs = window.take(request.device.id, clock.monotonic());
    return waitMs === 0 ? undefined : errorReply("RATE_LIMITED", { retryAfterMs: waitMs });
  };
  /** `act` is given the body as the schema makes it. */
  const changing =
    <Body>(schema: GenericSchema, window: SlidingWindow, act: (body: Body, request: ApiRequest) => Promise<Json>) =>
    async (request: ApiRequest): Promise<Reply> => {
      const refused = limited(request, window);
      if (refused) return refused;
      const body = await jsonBody(request, schema, bodies);
      if (body instanceof Reply) return body;
      return jsonReply(200, await act(body as Body, request));
    };
  const { changes, tests } = limits;
  return [
    { ...READ, handle: async () => jsonReply(200, (await admin.read()) as Json) },
    {
      ...PREVIEW,
      handle: changing<ChangeBody>(CHANGE_BODY, changes, async (body) => (await admin.preview(body)) as Json),
    },
    {
      ...SAVE,
      handle: changing<SaveBody>(
        SAVE_BODY,
        changes,
        async ({ revision, edits }, { device }) => (await admin.save({ edits }, revision, device.name)) as Json,
      ),
    },
    { ...VERSIONS, handle: async () => jsonReply(200, { versions: await admin.versions() } as Json) },
    {
      ...VERSION_DIFF,
      handle: async ({ params }) => jsonReply(200, { diff: await admin.changeOf(versionOf(params)) } as Json),
    },
    {
      ...UNDO,
      handle: changing<{ revision: string }>(
        UNDO_BODY,
        changes,
        async ({ revision }, { device, params }) =>
          (await admin.save({ undo: versionOf(params) }, revision, device.name)) as Json,
      ),
    },
    {
      ...MODELS,
      handle: changing<TryBody>(
        TRY_BODY,
        tests,
        async (body, request) => (await admin.models(body, gone(request))) as Json,
      ),
    },
    {
      ...MODEL_TEST,
      handle: changing<TryBody>(
        TRY_BODY,
        tests,
        async (body, request) => (await admin.testModel(body, gone(request))) as Json,
      ),
    },
    {
      ...CHANNEL_TEST,
      handle: changing<SendBody>(
        SEND_BODY,
        tests,
        async (body, request) => (await admin.testChannel(body, gone(request))) as Json,
      ),
    },
  ];
}

/** 0 is the number of none. */
export const versionOf = ({ id = "" }: ApiRequest["params"]): number => (/^\d{1,9}$/.test(id) ? Number(id) : 0);

/** Aborted when the client disconnects. */
function gone({ env: { outgoing } }: ApiRequest): AbortSignal {
  const controller = new AbortController();
  outgoing.once("close", () => controller.abort());
  return controller.signal;
}
