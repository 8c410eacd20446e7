/** Procedures as the page edits them: files, versions, test runs, the calendar. */
import { type ErrorCode, integer, type Json } from "@svc/contract";
import { calendarJson, runJson } from "@svc/sop";
import * as v from "valibot";
import type { GenericSchema } from "valibot";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import { byDevice, type GatewaySops, RUN } from "./sops.ts";
import { name, time } from "./fields.ts";
import { type ApiRequest, type ApiRoute, type ApiSpec, jsonBody } from "./route.ts";
import { DIFF, type SettingsRouteDeps, versionOf } from "./settings.ts";

const params = { name: name("The procedure's name.") };

const NAME = v.pipe(v.string(), v.maxLength(64), v.description("a-z 0-9 _ -, at most 64."));
/** What the desk refuses has a sentence; this keeps nonsense away from it. */
const TEXT = v.pipe(v.string(), v.maxLength(300_000));
const TOML = v.pipe(TEXT, v.description("SOP.toml"));
const MARKDOWN = v.pipe(v.nullable(TEXT), v.description("SOP.md; null: the file does not exist."));
const REVISION = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/));

const PATH = v.pipe(
  v.array(v.union([v.pipe(v.string(), v.maxLength(200)), integer(0, 1_000)])),
  v.minLength(2),
  v.maxLength(12),
  v.description("In SOP.toml: names of tables and keys, numbers for items of a list."),
);
const STEP_NUMBER = v.pipe(integer(1, 1_000), v.description("From 1; one more than there are is a new one."));

const EDIT = v.union([
  v.strictObject({ path: PATH, remove: v.literal(true) }),
  v.strictObject({
    path: PATH,
    value: v.union([v.string(), v.number(), v.boolean(), v.array(v.unknown()), v.record(v.string(), v.unknown())]),
  }),
  v.strictObject({ step: STEP_NUMBER, remove: v.literal(true) }),
  v.strictObject({ step: STEP_NUMBER, move: integer(1, 1_000) }),
  v.strictObject({
    step: STEP_NUMBER,
    to: v.strictObject({
      title: v.pipe(v.string(), v.maxLength(1_000)),
      body: TEXT,
      kind: v.picklist(["execute", "checkpoint"]),
      tools: v.pipe(v.array(v.pipe(v.string(), v.maxLength(200))), v.maxLength(200)),
      requires_confirmation: v.boolean(),
    }),
  }),
]);

const DRAFT_BODY = v.strictObject({
  name: NAME,
  toml: v.optional(TOML),
  markdown: v.optional(MARKDOWN),
  edits: v.optional(v.pipe(v.array(EDIT), v.maxLength(50)), []),
});
const SAVE_BODY = v.strictObject({
  toml: TOML,
  markdown: MARKDOWN,
  revision: v.pipe(v.nullable(REVISION), v.description("Revision of the edited files; null: no files yet.")),
});
const COPY_BODY = v.strictObject({ name: NAME });
const RENAME_BODY = v.strictObject({ name: NAME });
const SWITCH_BODY = v.strictObject({ enabled: v.boolean() });
const TEST_BODY = v.strictObject({
  trigger: v.optional(
    v.pipe(integer(0, 1_000), v.description("Index of the trigger that is tried; left out: started as by hand.")),
  ),
  payload: v.optional(v.pipe(v.unknown(), v.description("What comes with the event: any JSON."))),
});
const RETRY_BODY = v.strictObject({
  step: v.pipe(integer(1, 1_000), v.description("The first step that is done again.")),
});

export type DraftBody = v.InferOutput<typeof DRAFT_BODY>;
export type SaveBody = v.InferOutput<typeof SAVE_BODY>;
export type TestBody = v.InferOutput<typeof TEST_BODY>;

const PROBLEM = v.object({
  file: v.nullable(v.string()),
  line: v.nullable(integer(1)),
  column: v.nullable(integer(1)),
  key: v.pipe(v.string(), v.description("Dotted; empty: the file as a whole.")),
  message: v.string(),
  allowed: v.nullable(v.string()),
  did_you_mean: v.nullable(v.string()),
});

const DRAFT = v.object({
  toml: v.string(),
  markdown: v.nullable(v.string()),
  problems: v.pipe(v.array(PROBLEM), v.description("Nothing is saved while there is one.")),
  warnings: v.array(PROBLEM),
  form: v.pipe(v.unknown(), v.description("The same as fields; null: SOP.toml is not TOML.")),
});

const SOURCE = v.object({
  name: v.string(),
  revision: v.string(),
  unwritable: v.pipe(v.nullable(v.string()), v.description("Why it can't be changed here.")),
  ...DRAFT.entries,
});

const VERSION_NUMBER = v.pipe(
  v.nullable(integer(1)),
  v.description("What an undo names; null: the files said so already."),
);
const SAVED = v.object({
  name: v.string(),
  revision: v.string(),
  version: VERSION_NUMBER,
  warnings: v.array(PROBLEM),
});

const SAVE_ERRORS: ErrorCode[] = ["SOP_INVALID", "SOP_UNWRITABLE", "RATE_LIMITED", "STORE_FULL", "STORE_FAILED"];

const READ: ApiSpec = {
  method: "GET",
  path: "/api/sops/{name}",
  access: "operate",
  summary: "Reads the files of a procedure, with their errors.",
  params,
  answers: { 200: { description: "As they are in the workspace.", body: SOURCE } },
  errors: ["SOP_UNKNOWN", "SOP_INVALID"],
};

const DRAFT_CHECK: ApiSpec = {
  method: "POST",
  path: "/api/sop-drafts",
  access: "operate",
  summary: "Checks the text of a procedure, after the edits of a form, and writes nothing.",
  details: "Without a text, the answer is the template of a new procedure.",
  body: DRAFT_BODY,
  answers: { 200: { description: "The text, with its errors.", body: DRAFT } },
  errors: ["SOP_INVALID", "RATE_LIMITED"],
};

const SAVE: ApiSpec = {
  method: "PUT",
  path: "/api/sops/{name}",
  access: "operate",
  summary: "Writes the files of a procedure, which is in force at once.",
  params,
  body: SAVE_BODY,
  answers: { 200: { description: "They are written.", body: SAVED } },
  errors: ["SOP_UNKNOWN", "SOP_EXISTS", "SOP_CHANGED", ...SAVE_ERRORS],
};

const COPY: ApiSpec = {
  method: "POST",
  path: "/api/sops/{name}/copies",
  access: "operate",
  summary: "Makes a copy of a procedure, which is disabled.",
  params,
  body: COPY_BODY,
  answers: { 200: { description: "It is written.", body: SAVED } },
  errors: ["SOP_UNKNOWN", "SOP_EXISTS", ...SAVE_ERRORS],
};

const SWITCH: ApiSpec = {
  method: "PATCH",
  path: "/api/sops/{name}",
  access: "operate",
  summary: "Enables or disables a procedure.",
  details: "A disabled procedure runs only in tests; a request to its path lists it in `skipped`.",
  params,
  body: SWITCH_BODY,
  answers: { 200: { description: "It is written.", body: SAVED } },
  errors: ["SOP_UNKNOWN", "SOP_CHANGED", ...SAVE_ERRORS],
};

const REMOVE: ApiSpec = {
  method: "DELETE",
  path: "/api/sops/{name}",
  access: "operate",
  summary: "Deletes the files of a procedure.",
  details:
    "Its runs go on with the definition they began with. Other files in its folder stay. An undo of the version brings it back.",
  params,
  answers: {
    200: {
      description: "They are gone.",
      body: v.object({ name: v.string(), deleted: v.literal(true), version: VERSION_NUMBER }),
    },
  },
  errors: ["SOP_UNKNOWN", ...SAVE_ERRORS],
};

const RENAME: ApiSpec = {
  method: "POST",
  path: "/api/sops/{name}/rename",
  access: "operate",
  summary: "Gives a procedure another name.",
  details: "Its runs keep the name they began with, and go on with the definition they began with.",
  params,
  body: RENAME_BODY,
  answers: { 200: { description: "It has the name.", body: SAVED } },
  errors: ["SOP_UNKNOWN", "SOP_EXISTS", ...SAVE_ERRORS],
};

const TEST: ApiSpec = {
  method: "POST",
  path: "/api/sops/{name}/test-runs",
  access: "operate",
  summary: "Starts a run that is marked as a test, with a sample event.",
  details: "It has the gates of any other run, needs no enabling, and neither waits for a cooldown nor starts one.",
  params,
  body: TEST_BODY,
  answers: {
    202: { description: "Its run is on disk.", body: v.object({ sop: v.string(), run_id: v.string() }) },
  },
  errors: ["SOP_UNKNOWN", "SOP_INVALID", "SOP_NOT_TRIGGERED", "SOP_BUSY", "STORE_FULL", "STORE_FAILED"],
};

const RETRY: ApiSpec = {
  method: "POST",
  path: "/api/sop-runs/{id}/retry",
  access: "operate",
  summary: "Starts a new run that takes over the finished steps before one, and does the rest again.",
  details: "A step that may have acted in an earlier run waits for a person before it acts again.",
  params: { id: name("The run's id.") },
  body: RETRY_BODY,
  answers: {
    202: {
      description: "The new run is on disk.",
      body: v.object({
        ...RUN.entries,
        asks: v.pipe(v.array(integer(1)), v.description("Steps that wait for a person because they may have acted.")),
      }),
    },
  },
  errors: [
    "SOP_RUN_UNKNOWN",
    "SOP_RUN_ACTIVE",
    "SOP_RETRY_REFUSED",
    "SOP_UNKNOWN",
    "SOP_INVALID",
    "SOP_DISABLED",
    "SOP_BUSY",
    "STORE_FULL",
    "STORE_FAILED",
  ],
};

const CALENDAR: ApiSpec = {
  method: "GET",
  path: "/api/sop-calendar",
  access: "read",
  summary: "Lists what cron starts in the next days.",
  query: {
    days: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^\d{1,2}$/),
        v.transform(Number),
        integer(1, 31),
        v.description("1 to 31; 7 when left out"),
      ),
    ),
    sop: v.optional(v.pipe(v.string(), v.maxLength(128), v.description("a procedure's name"))),
  },
  answers: {
    200: {
      description: "Triggers by their first time.",
      body: v.object({
        from: v.string(),
        until: v.string(),
        times: v.array(
          v.object({
            sop: v.string(),
            expression: v.string(),
            timezone: v.nullable(v.string()),
            at: v.array(v.string()),
            more: v.pipe(v.boolean(), v.description("There are more than are listed.")),
          }),
        ),
        left: v.pipe(integer(0), v.description("Triggers with a time in these days that are not listed.")),
      }),
    },
  },
};

export const SOP_EDITOR_SPECS = [READ, DRAFT_CHECK, SAVE, COPY, RENAME, SWITCH, REMOVE, TEST, RETRY, CALENDAR];

const UNDO_BODY = v.strictObject({
  revision: v.pipe(REVISION, v.description("Of the version that was looked at: the files as they were then.")),
});
const VERSION = v.object({
  version: integer(1),
  at: time(),
  by: v.string(),
  what: v.picklist(["create", "change", "delete", "rename", "undo"]),
  sops: v.pipe(v.array(v.string()), v.description("Names of the procedures; of a rename the new one first.")),
});
const FILE_DIFFS = v.array(v.object({ sop: v.string(), file: v.string(), lines: DIFF }));
const version = { id: name("The version's number.") };

const VERSIONS: ApiSpec = {
  method: "GET",
  path: "/api/sop-versions",
  access: "operate",
  summary: "Lists the changes of procedures that were saved, the newest first.",
  query: { sop: v.optional(v.pipe(v.string(), v.maxLength(128), v.description("a procedure's name"))) },
  answers: { 200: { description: "The last 200.", body: v.object({ versions: v.array(VERSION) }) } },
};

const VERSION_DIFF: ApiSpec = {
  method: "GET",
  path: "/api/sop-versions/{id}",
  access: "operate",
  summary: "Shows what a saved change did to the files, and what an undo would do to them now.",
  params: version,
  answers: {
    200: {
      description: "The change, secrets as dots.",
      body: v.object({
        ...VERSION.entries,
        changes: FILE_DIFFS,
        undo: FILE_DIFFS,
        revision: v.pipe(v.string(), v.description("Of the files as they are now, for an undo.")),
      }),
    },
  },
  errors: ["VERSION_UNKNOWN", "SOP_INVALID"],
};

const UNDO: ApiSpec = {
  method: "POST",
  path: "/api/sop-versions/{id}/undo",
  access: "operate",
  summary: "Puts the procedures of a saved change back as they were before it.",
  params: version,
  body: UNDO_BODY,
  answers: {
    200: {
      description: "They are as they were.",
      body: v.object({
        ...SAVED.entries,
        revision: v.pipe(v.nullable(v.string()), v.description("Null: there is no such procedure any more.")),
      }),
    },
  },
  errors: ["VERSION_UNKNOWN", "SOP_CHANGED", ...SAVE_ERRORS],
};

export const SOP_VERSION_SPECS = [VERSIONS, VERSION_DIFF, UNDO];

// Procedures in the page: written, copied, switched, tried; their runs retried; what cron starts next.

/** Where procedures are written. Rejects with SOP_*, VERSION_UNKNOWN, STORE_*. */
export interface SopAuthor {
  read(name: string): Promise<Json>;
  check(draft: DraftBody): Promise<Json>;
  save(name: string, files: SaveBody, by: string): Promise<Json>;
  duplicate(name: string, copy: string, by: string): Promise<Json>;
  setEnabled(name: string, enabled: boolean, by: string): Promise<Json>;
  delete(name: string, by: string): Promise<Json>;
  rename(name: string, to: string, by: string): Promise<Json>;
  versions(name: string | undefined): Promise<Json>;
  version(number: number): Promise<Json>;
  undo(number: number, revision: string | undefined, by: string): Promise<Json>;
}

export interface SopEditorRouteDeps extends Pick<SettingsRouteDeps, "bodies" | "clock" | "settingsLimits"> {
  readonly sops: GatewaySops;
  readonly sopAuthor: SopAuthor;
}

export function sopEditorRoutes({
  sops,
  sopAuthor: author,
  bodies,
  clock,
  settingsLimits,
}: SopEditorRouteDeps): ApiRoute[] {
  const limited = ({ device }: ApiRequest): Reply | undefined => {
    const waitMs = settingsLimits.changes.take(device.id, clock.monotonic());
    return waitMs > 0 ? errorReply("RATE_LIMITED", { retryAfterMs: waitMs }) : undefined;
  };
  /** `act` gets the parsed body. The limit is that of settings, because a draft is checked while the operator types. */
  const writing =
    <Body>(schema: GenericSchema, act: (body: Body, request: ApiRequest) => Promise<Json>) =>
    async (request: ApiRequest): Promise<Reply> => {
      const refused = limited(request);
      if (refused) return refused;
      const body = await jsonBody(request, schema, bodies);
      return body instanceof Reply ? body : jsonReply(200, await act(body as Body, request));
    };
  return [
    { ...READ, handle: async ({ params }) => jsonReply(200, await author.read(nameOf(params))) },
    { ...DRAFT_CHECK, handle: writing<DraftBody>(DRAFT_BODY, (body) => author.check(body)) },
    {
      ...SAVE,
      handle: writing<SaveBody>(SAVE_BODY, (body, { params, device }) =>
        author.save(nameOf(params), body, byDevice(device)),
      ),
    },
    {
      ...COPY,
      handle: writing<{ name: string }>(COPY_BODY, ({ name }, { params, device }) =>
        author.duplicate(nameOf(params), name, byDevice(device)),
      ),
    },
    {
      ...SWITCH,
      handle: writing<{ enabled: boolean }>(SWITCH_BODY, ({ enabled }, { params, device }) =>
        author.setEnabled(nameOf(params), enabled, byDevice(device)),
      ),
    },
    {
      ...RENAME,
      handle: writing<{ name: string }>(RENAME_BODY, ({ name }, { params, device }) =>
        author.rename(nameOf(params), name, byDevice(device)),
      ),
    },
    {
      ...REMOVE,
      async handle(request) {
        const { device, params } = request;
        const refused = limited(request);
        if (refused) return refused;
        const { name, version } = (await author.delete(nameOf(params), byDevice(device))) as { [name: string]: Json };
        return jsonReply(200, { name: name!, deleted: true, version: version! });
      },
    },
    {
      ...VERSIONS,
      handle: async ({ query }) => jsonReply(200, { versions: await author.versions((query as { sop?: string }).sop) }),
    },
    { ...VERSION_DIFF, handle: async ({ params }) => jsonReply(200, await author.version(versionOf(params))) },
    {
      ...UNDO,
      handle: writing<{ revision: string }>(UNDO_BODY, ({ revision }, { params, device }) =>
        author.undo(versionOf(params), revision, byDevice(device)),
      ),
    },
    {
      ...TEST,
      async handle(request) {
        const body = await jsonBody(request, TEST_BODY, bodies);
        if (body instanceof Reply) return body;
        const { trigger, payload } = body as TestBody;
        const sample = {
          ...(trigger !== undefined && { trigger }),
          payload: payload === undefined ? null : JSON.stringify(payload),
        };
        const run = await sops.test(nameOf(request.params), sample, { by: byDevice(request.device) });
        return jsonReply(202, { sop: run.sop, run_id: run.id });
      },
    },
    {
      ...RETRY,
      async handle(request) {
        const body = await jsonBody(request, RETRY_BODY, bodies);
        if (body instanceof Reply) return body;
        const { step } = body as { step: number };
        const { run, asks } = await sops.retry(request.params["id"] ?? "", step, { by: byDevice(request.device) });
        return jsonReply(202, { ...runJson(run), asks: [...asks] });
      },
    },
    {
      ...CALENDAR,
      async handle({ query }) {
        const { days = 7, sop } = query as { days?: number; sop?: string };
        return jsonReply(200, calendarJson(await sops.calendar(days, sop)));
      },
    },
  ];
}

const nameOf = (params: ApiRequest["params"]): string => params["name"] ?? "";
