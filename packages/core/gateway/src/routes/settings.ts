/** The config file as the page edits it, with its versions, and tests of models and channels. */
import {
  ChannelTest,
  ChannelTestRequest,
  type Diff,
  ModelList,
  ModelTest,
  name,
  type Output,
  Settings,
  SettingsChange,
  SettingsPreview,
  SettingsSave,
  SettingsSaved,
  SettingsTry,
  SettingsUndo,
  type SettingsVersion,
  SettingsVersionDiff,
  SettingsVersions,
} from "@svc/api";
import type { Clock } from "@svc/contract";
import type { GenericSchema } from "valibot";
import { errorReply, Reply } from "../http/reply.ts";
import type { SlidingWindow } from "../client.ts";
import { type ApiRequest, apiRoute, type ApiRoute, type ApiSpec, type BodyLimits, jsonBody, respond } from "./route.ts";

const REFUSED = ["BAD_REQUEST", "RATE_LIMITED", "SETTINGS_INVALID", "CONFIG_CHANGED", "CONFIG_UNWRITABLE"] as const;

const READ = {
  method: "GET",
  path: "/api/settings",
  access: "operate",
  summary: "Shows the config file for forms: its schema, its values, and of each secret only whether it is set.",
  answers: { 200: { description: "The settings.", body: Settings } },
} satisfies ApiSpec;

const PREVIEW = {
  method: "POST",
  path: "/api/settings/preview",
  access: "operate",
  summary: "Previews a change of the file, with its errors. Writes nothing.",
  body: SettingsChange,
  answers: { 200: { description: "The change.", body: SettingsPreview } },
  errors: ["BAD_REQUEST", "RATE_LIMITED", "VERSION_UNKNOWN"],
} satisfies ApiSpec;

const SAVE = {
  method: "PATCH",
  path: "/api/settings",
  access: "operate",
  summary: "Writes a change into the config file and puts it into force.",
  details:
    "Comments, order and everything else in the file stay. A change that can't be loaded or put into force leaves the file as it was.",
  body: SettingsSave,
  answers: { 200: { description: "It is in force.", body: SettingsSaved } },
  errors: [...REFUSED, "SETTINGS_REFUSED"],
} satisfies ApiSpec;

const VERSIONS = {
  method: "GET",
  path: "/api/settings/versions",
  access: "operate",
  summary: "Lists the changes that were saved, the newest first.",
  answers: { 200: { description: "The last 50.", body: SettingsVersions } },
} satisfies ApiSpec;

const VERSION_DIFF = {
  method: "GET",
  path: "/api/settings/versions/{id}",
  access: "operate",
  summary: "Shows what a saved change did to the file.",
  params: { id: name("The version's number.") },
  answers: { 200: { description: "The change, secrets as dots.", body: SettingsVersionDiff } },
  errors: ["VERSION_UNKNOWN"],
} satisfies ApiSpec;

const UNDO = {
  method: "POST",
  path: "/api/settings/versions/{id}/undo",
  access: "operate",
  summary: "Puts the file back as it was before a saved change, and that into force.",
  params: { id: name("The version's number.") },
  body: SettingsUndo,
  answers: { 200: { description: "It is in force.", body: SettingsSaved } },
  errors: [...REFUSED, "SETTINGS_REFUSED", "VERSION_UNKNOWN"],
} satisfies ApiSpec;

const MODELS = {
  method: "POST",
  path: "/api/settings/models",
  access: "operate",
  summary: "Lists the models that a provider has, as the settings with these edits would ask it.",
  body: SettingsTry,
  answers: {
    200: {
      description: "Their names, or the reason for an empty list.",
      body: ModelList,
    },
  },
  errors: ["BAD_REQUEST", "RATE_LIMITED", "SETTINGS_INVALID"],
} satisfies ApiSpec;

const MODEL_TEST = {
  method: "POST",
  path: "/api/settings/model-test",
  access: "operate",
  summary: "Asks the model one short question, as the settings with these edits would.",
  body: SettingsTry,
  answers: {
    200: {
      description: "What came of it.",
      body: ModelTest,
    },
  },
  errors: ["BAD_REQUEST", "RATE_LIMITED", "SETTINGS_INVALID", "AGENT_UNKNOWN"],
} satisfies ApiSpec;

const CHANNEL_TEST = {
  method: "POST",
  path: "/api/settings/channel-test",
  access: "operate",
  summary: "Sends a test message by a channel.",
  body: ChannelTestRequest,
  answers: {
    200: {
      description: "How far it came within five seconds; it goes on being sent.",
      body: ChannelTest,
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
} satisfies ApiSpec;

export const SETTINGS_SPECS = [READ, SAVE, PREVIEW, VERSIONS, VERSION_DIFF, UNDO, MODELS, MODEL_TEST, CHANNEL_TEST];

/** The config file as the page edits it. Rejects with SETTINGS_*, CONFIG_*, VERSION_UNKNOWN. */
export interface SettingsAdmin {
  read(): Promise<Settings>;
  preview(change: SettingsChange): Promise<SettingsPreview>;
  save(change: SettingsChange, revision: string, by: string): Promise<SettingsSaved>;
  versions(): Promise<readonly SettingsVersion[]>;
  changeOf(version: number): Promise<Diff>;
  models(request: SettingsTry, signal: AbortSignal): Promise<ModelList>;
  testModel(request: SettingsTry, signal: AbortSignal): Promise<ModelTest>;
  testChannel(request: ChannelTestRequest, signal: AbortSignal): Promise<ChannelTest>;
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
  /** A route whose body is checked after its limit. */
  const changing = <const Spec extends ApiSpec & { readonly body: GenericSchema }>(
    spec: Spec,
    window: SlidingWindow,
    act: (body: Output<Spec["body"]>, request: ApiRequest) => Promise<Reply>,
  ): ApiRoute =>
    apiRoute(spec, async (request) => {
      const refused = limited(request, window);
      if (refused) return refused;
      const body = await jsonBody<Spec["body"]>(request, spec.body, bodies);
      return body instanceof Reply ? body : act(body, request);
    });
  const { changes, tests } = limits;
  return [
    apiRoute(READ, async () => respond(READ, 200, await admin.read())),
    changing(PREVIEW, changes, async (body) => respond(PREVIEW, 200, await admin.preview(body))),
    changing(SAVE, changes, async ({ revision, edits }, { device }) =>
      respond(SAVE, 200, await admin.save({ edits }, revision, device.name)),
    ),
    apiRoute(VERSIONS, async () => respond(VERSIONS, 200, { versions: await admin.versions() })),
    apiRoute(VERSION_DIFF, async ({ params }) =>
      respond(VERSION_DIFF, 200, { diff: await admin.changeOf(versionOf(params)) }),
    ),
    changing(UNDO, changes, async ({ revision }, { device, params }) =>
      respond(UNDO, 200, await admin.save({ undo: versionOf(params) }, revision, device.name)),
    ),
    changing(MODELS, tests, async (body, request) => respond(MODELS, 200, await admin.models(body, gone(request)))),
    changing(MODEL_TEST, tests, async (body, request) =>
      respond(MODEL_TEST, 200, await admin.testModel(body, gone(request))),
    ),
    changing(CHANNEL_TEST, tests, async (body, request) =>
      respond(CHANNEL_TEST, 200, await admin.testChannel(body, gone(request))),
    ),
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
