/** Procedures as the page edits them: files, versions, test runs, the calendar. */
import { integer, type Json } from "@svc/contract";
import * as v from "valibot";
import { Diff } from "./settings.ts";
import { SopRun } from "./sops.ts";
import { anyJson, filter, time, undescribed, type Output, type ParametersOutput } from "./schema.ts";

const NAME = v.pipe(v.string(), v.maxLength(64), v.description("a-z 0-9 _ -, at most 64."));

/** What the editor refuses has a sentence; this keeps nonsense away from it. */
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
    value: v.union([v.string(), v.number(), v.boolean(), v.array(anyJson), v.record(v.string(), anyJson)]),
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
export type SopEdit = Output<typeof EDIT>;

export const SopDraftRequest = v.strictObject({
  name: NAME,
  toml: v.exactOptional(TOML),
  markdown: v.exactOptional(MARKDOWN),
  edits: v.optional(v.pipe(v.array(EDIT), v.maxLength(50)), []),
});
export type SopDraftRequest = Output<typeof SopDraftRequest>;

export const SopSave = v.strictObject({
  toml: TOML,
  markdown: MARKDOWN,
  revision: v.pipe(v.nullable(REVISION), v.description("Revision of the edited files; null: no files yet.")),
});
export type SopSave = Output<typeof SopSave>;

/** The name of a copy, or the new name of a procedure. */
export const SopName = v.strictObject({ name: NAME });
export type SopName = Output<typeof SopName>;

export const SopSwitch = v.strictObject({ enabled: v.boolean() });
export type SopSwitch = Output<typeof SopSwitch>;

export const SopTest = v.strictObject({
  trigger: v.exactOptional(
    v.pipe(integer(0, 1_000), v.description("Index of the trigger that is tried; left out: started as by hand.")),
  ),
  payload: v.exactOptional(v.pipe(anyJson, v.description("What comes with the event: any JSON."))),
});
export type SopTest = Output<typeof SopTest>;

export const SopRetry = v.strictObject({
  step: v.pipe(integer(1, 1_000), v.description("The first step that is done again.")),
});
export type SopRetry = Output<typeof SopRetry>;

export const SopProblem = v.object({
  file: v.nullable(v.string()),
  line: v.nullable(integer(1)),
  column: v.nullable(integer(1)),
  key: v.pipe(v.string(), v.description("Dotted; empty: the file as a whole.")),
  message: v.string(),
  allowed: v.nullable(v.string()),
  did_you_mean: v.nullable(v.string()),
});
export type SopProblem = Output<typeof SopProblem>;

export type SopStepForm = {
  readonly title: string;
  readonly body: string;
  readonly kind: "execute" | "checkpoint";
  readonly tools: readonly string[];
  readonly requires_confirmation: boolean;
  /** Of a step without a model. */
  readonly tool: string | null;
  readonly args: { readonly [name: string]: Json } | null;
  readonly trusted_input: boolean;
};

/** SOP.toml as fields. What is wrong shows as it was written, as far as it is of the right kind. */
export type SopForm = {
  readonly sop: {
    readonly description: string;
    readonly version: string;
    readonly priority: string;
    readonly execution_mode: string | null;
    readonly cooldown_secs: number;
    readonly max_concurrent: number;
    readonly agent: string | null;
    readonly enabled: boolean;
  };
  /** The texts of each. */
  readonly triggers: readonly { readonly [key: string]: string }[];
  readonly steps_in: "SOP.toml" | "SOP.md";
  readonly steps: readonly SopStepForm[];
  readonly instructions: string;
};

export const SopDraft = v.object({
  toml: v.string(),
  markdown: v.nullable(v.string()),
  problems: v.pipe(v.array(SopProblem), v.description("Nothing is saved while there is one.")),
  warnings: v.array(SopProblem),
  form: v.pipe(undescribed<SopForm | null>(), v.description("The same as fields; null: SOP.toml is not TOML.")),
});
export type SopDraft = Output<typeof SopDraft>;

export const SopSource = v.object({
  name: v.string(),
  revision: v.string(),
  unwritable: v.pipe(v.nullable(v.string()), v.description("Why it can't be changed here.")),
  ...SopDraft.entries,
});
export type SopSource = Output<typeof SopSource>;

const VERSION_NUMBER = v.pipe(
  v.nullable(integer(1)),
  v.description("What an undo names; null: the files said so already."),
);

export const SopSaved = v.object({
  name: v.string(),
  revision: v.string(),
  version: VERSION_NUMBER,
  warnings: v.array(SopProblem),
});
export type SopSaved = Output<typeof SopSaved>;

export const SopDeleted = v.object({ name: v.string(), deleted: v.literal(true), version: VERSION_NUMBER });
export type SopDeleted = Output<typeof SopDeleted>;

export const SopRetried = v.object({
  ...SopRun.entries,
  asks: v.pipe(v.array(integer(1)), v.description("Steps that wait for a person because they may have acted.")),
});
export type SopRetried = Output<typeof SopRetried>;

export const SopUndo = v.strictObject({
  revision: v.pipe(REVISION, v.description("Of the version that was looked at: the files as they were then.")),
});
export type SopUndo = Output<typeof SopUndo>;

export const SopUndone = v.object({
  ...SopSaved.entries,
  revision: v.pipe(v.nullable(v.string()), v.description("Null: there is no such procedure any more.")),
});
export type SopUndone = Output<typeof SopUndone>;

export const SopVersion = v.object({
  version: integer(1),
  at: time(),
  by: v.string(),
  what: v.picklist(["create", "change", "delete", "rename", "undo"]),
  sops: v.pipe(v.array(v.string()), v.description("Names of the procedures; of a rename the new one first.")),
});
export type SopVersion = Output<typeof SopVersion>;

export const SopVersions = v.object({ versions: v.array(SopVersion) });
export type SopVersions = Output<typeof SopVersions>;

export const SopVersionQuery = { sop: filter("a procedure's name", 128) };
export type SopVersionQuery = ParametersOutput<typeof SopVersionQuery>;

const FILE_DIFFS = v.array(v.object({ sop: v.string(), file: v.string(), lines: Diff }));

export const SopVersionDetail = v.object({
  ...SopVersion.entries,
  changes: FILE_DIFFS,
  undo: FILE_DIFFS,
  revision: v.pipe(v.string(), v.description("Of the files as they are now, for an undo.")),
});
export type SopVersionDetail = Output<typeof SopVersionDetail>;

export const SopCalendar = v.object({
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
});
export type SopCalendar = Output<typeof SopCalendar>;

export const SopCalendarQuery = {
  days: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,2}$/),
      v.transform(Number),
      integer(1, 31),
      v.description("1 to 31; 7 when left out"),
    ),
  ),
  sop: filter("a procedure's name", 128),
};
export type SopCalendarQuery = ParametersOutput<typeof SopCalendarQuery>;
