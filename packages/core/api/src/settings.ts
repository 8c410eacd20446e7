/** The config file as the page edits it, its versions, and tests of models and channels. */
import { integer, type Json, type NodeType } from "@svc/contract";
import * as v from "valibot";
import { anyJson, name, time, undescribed, type Output } from "./schema.ts";

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
      v.union([v.string(), v.number(), v.boolean(), v.array(anyJson), v.record(v.string(), anyJson)]),
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

export type SettingsEdit = Output<typeof EDIT>;

export const SettingsChange = v.union([
  v.strictObject({ edits: EDITS }),
  v.strictObject({ undo: v.pipe(integer(1), v.description("The version to undo.")) }),
]);
export type SettingsChange = Output<typeof SettingsChange>;

export const SettingsSave = v.strictObject({ revision: REVISION, edits: EDITS });
export type SettingsSave = Output<typeof SettingsSave>;

export const SettingsUndo = v.strictObject({ revision: REVISION });
export type SettingsUndo = Output<typeof SettingsUndo>;

export const SettingsTry = v.strictObject({
  edits: v.pipe(v.array(EDIT), v.maxLength(200), v.description("Of the file, tried and not written.")),
  agent: v.exactOptional(name("The agent whose model is meant. Default: default.")),
});
export type SettingsTry = Output<typeof SettingsTry>;

export const ChannelTestRequest = v.strictObject({
  channel: name("The channel's id."),
  to: name("Who is written to, as the channel names conversations."),
});
export type ChannelTestRequest = Output<typeof ChannelTestRequest>;

export const SettingsProblem = v.object({
  code: v.string(),
  key: v.pipe(v.string(), v.description("Dotted; empty: the file as a whole.")),
  message: v.string(),
  line: v.nullable(integer(1)),
  column: v.nullable(integer(1)),
  allowed: v.nullable(v.string()),
  did_you_mean: v.nullable(v.string()),
  env: v.pipe(v.nullable(v.string()), v.description("The variable to blame.")),
});
export type SettingsProblem = Output<typeof SettingsProblem>;

export const DiffLine = v.object({
  kind: v.picklist(["same", "added", "removed", "gap"]),
  line: integer(1),
  text: v.string(),
});
export type DiffLine = Output<typeof DiffLine>;

export const Diff = v.array(DiffLine);
export type Diff = Output<typeof Diff>;

export const SettingsVersion = v.object({ version: integer(1), at: time(), by: v.string(), keys: v.array(v.string()) });
export type SettingsVersion = Output<typeof SettingsVersion>;

export const SettingsVersions = v.object({ versions: v.array(SettingsVersion) });
export type SettingsVersions = Output<typeof SettingsVersions>;

export const SettingsVersionDiff = v.object({ diff: Diff });
export type SettingsVersionDiff = Output<typeof SettingsVersionDiff>;

/** A key as a form shows it. */
export type SettingsField = {
  readonly name: string;
  readonly type: NodeType;
  readonly required: boolean;
  readonly default?: Json;
  readonly description?: string;
  readonly secret?: true;
  /** A secret that is ours to choose. */
  readonly generate?: true;
  /** Worth asking for, though it may be left out. */
  readonly ask?: true;
  readonly restart?: true;
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly (string | number | boolean)[];
  /** It takes keys that `fields` does not name. */
  readonly open?: boolean;
  readonly fields?: readonly SettingsField[];
  readonly item?: SettingsField;
  /** The feature whose key it is in the section of another one. */
  readonly owner?: string;
};

export type SettingsSection = {
  readonly name: string;
  readonly path: readonly string[];
  readonly core: boolean;
  readonly feature?: string;
  readonly kind?: string;
  readonly summary?: string;
  readonly title?: string;
  readonly fields: readonly SettingsField[];
  /** What stands under any other name. */
  readonly item?: SettingsField;
};

export const Settings = v.object({
  file: v.string(),
  revision: v.string(),
  unwritable: v.pipe(v.nullable(v.string()), v.description("Why the file can't be written; null: it can.")),
  sections: v.pipe(
    v.array(undescribed<SettingsSection>()),
    v.description("What the config of this build may hold, for forms."),
  ),
  values: v.pipe(v.record(v.string(), anyJson), v.description("As in the file, without its secrets.")),
  secrets: v.pipe(v.array(v.string()), v.description("Keys whose secret is set.")),
  environment: v.pipe(v.record(v.string(), v.string()), v.description("Key to the variable that sets it.")),
  problems: v.pipe(v.array(SettingsProblem), v.description("Why the file as it stands does not load.")),
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
export type Settings = Output<typeof Settings>;

export const SettingsPreview = v.object({
  revision: v.string(),
  diff: v.pipe(Diff, v.description("Secrets as dots.")),
  problems: v.pipe(v.array(SettingsProblem), v.description("Nothing can be saved while there is one.")),
  warnings: v.array(v.string()),
});
export type SettingsPreview = Output<typeof SettingsPreview>;

export const SettingsSaved = v.object({
  version: v.pipe(v.nullable(integer(1)), v.description("Null: the file said so already.")),
  revision: v.string(),
  changed: v.pipe(v.array(v.string()), v.description("Sections that are in force anew.")),
  restart: v.pipe(v.array(v.string()), v.description("Keys whose change is in force after a restart.")),
  warnings: v.array(v.string()),
});
export type SettingsSaved = Output<typeof SettingsSaved>;

export const ModelList = v.object({ models: v.array(v.string()), error: v.nullable(v.string()) });
export type ModelList = Output<typeof ModelList>;

export const ModelTest = v.object({
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
});
export type ModelTest = Output<typeof ModelTest>;

export const ChannelTest = v.object({
  state: v.string(),
  error: v.pipe(v.nullable(v.string()), v.description("Why it was not sent.")),
  hint: v.pipe(v.nullable(v.string()), v.description("What to do about it.")),
});
export type ChannelTest = Output<typeof ChannelTest>;
