/** Procedures as people write, try and switch them, as data. */
import { type ErrorCode, integer } from "@svc/contract";
import * as v from "valibot";
import type { ApiRoute } from "./app.ts";
import { name } from "./fields.ts";
import { RUN } from "./sop-run-specs.ts";

type Spec = Omit<ApiRoute, "handle">;

const params = { name: name("The procedure's name.") };

const NAME = v.pipe(v.string(), v.maxLength(64), v.description("a-z 0-9 _ -, at most 64."));
/** What the desk refuses has a sentence; this keeps nonsense away from it. */
const TEXT = v.pipe(v.string(), v.maxLength(300_000));
const TOML = v.pipe(TEXT, v.description("SOP.toml"));
const MARKDOWN = v.pipe(v.nullable(TEXT), v.description("SOP.md; null: there is none."));
export const REVISION = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/));

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

export const DRAFT_BODY = v.strictObject({
  name: NAME,
  toml: v.optional(TOML),
  markdown: v.optional(MARKDOWN),
  edits: v.optional(v.pipe(v.array(EDIT), v.maxLength(50)), []),
});
export const SAVE_BODY = v.strictObject({
  toml: TOML,
  markdown: MARKDOWN,
  revision: v.pipe(v.nullable(REVISION), v.description("Of the files that were edited; null: there are none yet.")),
});
export const COPY_BODY = v.strictObject({ name: NAME });
export const RENAME_BODY = v.strictObject({ name: NAME });
export const SWITCH_BODY = v.strictObject({ enabled: v.boolean() });
export const TEST_BODY = v.strictObject({
  trigger: v.optional(
    v.pipe(integer(0, 1_000), v.description("Index of the trigger that is tried; left out: started as by hand.")),
  ),
  payload: v.optional(v.pipe(v.unknown(), v.description("What comes with the event: any JSON."))),
});
export const RETRY_BODY = v.strictObject({
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
export const SAVED = v.object({
  name: v.string(),
  revision: v.string(),
  version: VERSION_NUMBER,
  warnings: v.array(PROBLEM),
});

export const SAVE_ERRORS: ErrorCode[] = ["SOP_INVALID", "SOP_UNWRITABLE", "RATE_LIMITED", "STORE_FULL", "STORE_FAILED"];

export const READ: Spec = {
  method: "GET",
  path: "/api/sops/{name}",
  access: "operate",
  summary: "Reads the files of a procedure, with what is wrong with them.",
  params,
  answers: { 200: { description: "As they are in the workspace.", body: SOURCE } },
  errors: ["SOP_UNKNOWN", "SOP_INVALID"],
};

export const DRAFT_CHECK: Spec = {
  method: "POST",
  path: "/api/sop-drafts",
  access: "operate",
  summary: "Checks the text of a procedure, after the edits of a form, and writes nothing.",
  details: "Without a text it answers with the one that a new procedure begins with.",
  body: DRAFT_BODY,
  answers: { 200: { description: "The text, and what is wrong with it.", body: DRAFT } },
  errors: ["SOP_INVALID", "RATE_LIMITED"],
};

export const SAVE: Spec = {
  method: "PUT",
  path: "/api/sops/{name}",
  access: "operate",
  summary: "Writes the files of a procedure, which is in force at once.",
  params,
  body: SAVE_BODY,
  answers: { 200: { description: "They are written.", body: SAVED } },
  errors: ["SOP_UNKNOWN", "SOP_EXISTS", "SOP_CHANGED", ...SAVE_ERRORS],
};

export const COPY: Spec = {
  method: "POST",
  path: "/api/sops/{name}/copies",
  access: "operate",
  summary: "Makes a copy of a procedure, which is disabled.",
  params,
  body: COPY_BODY,
  answers: { 200: { description: "It is written.", body: SAVED } },
  errors: ["SOP_UNKNOWN", "SOP_EXISTS", ...SAVE_ERRORS],
};

export const SWITCH: Spec = {
  method: "PATCH",
  path: "/api/sops/{name}",
  access: "operate",
  summary: "Enables or disables a procedure.",
  details: "What is disabled starts nothing but tests; a request to its path lists it in `skipped`.",
  params,
  body: SWITCH_BODY,
  answers: { 200: { description: "It is written.", body: SAVED } },
  errors: ["SOP_UNKNOWN", "SOP_CHANGED", ...SAVE_ERRORS],
};

export const REMOVE: Spec = {
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

export const RENAME: Spec = {
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

export const TEST: Spec = {
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

export const RETRY: Spec = {
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

export const CALENDAR: Spec = {
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

export const SOP_DESK_SPECS = [READ, DRAFT_CHECK, SAVE, COPY, RENAME, SWITCH, REMOVE, TEST, RETRY, CALENDAR];
