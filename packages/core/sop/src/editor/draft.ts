/** A procedure while somebody writes it: its text with the edits of a form, what is wrong with it, and the form that it fills. */
import { join } from "node:path";
import type { SopForm, SopStepForm } from "@svc/api";
import { type Json, SvcError } from "@svc/contract";
import { type ConfigValue, type Problem, type Table, applyConfigEdits, isTable } from "@svc/config";
import { type DefinitionRules, type Known, type SopFiles, examineSop } from "../library/definition.ts";
import { NAME_RULE, SOP_NAME } from "../library/types.ts";
import type { ReadSteps } from "../library/steps-md.ts";
import { type StepEdit, type StepText, editSteps } from "./step-edits.ts";

/** Both files of a procedure. */
export interface SopText {
  readonly toml: string;
  /** Undefined: there is no SOP.md. */
  readonly markdown: string | undefined;
}

/** A change of a key of SOP.toml, or of a step wherever the steps stand. */
export type SopEdit =
  | { readonly path: readonly (string | number)[]; readonly value: Json }
  | { readonly path: readonly (string | number)[]; readonly remove: true }
  | StepEdit;

export interface SopDraft extends SopText {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Null: SOP.toml is not TOML. */
  readonly form: SopForm | null;
}

export interface DraftOptions {
  readonly rules: DefinitionRules;
  readonly known: Known;
}

/** What a new procedure begins with: disabled, until it has been tried. */
export const templateOf = (name: string): SopText => ({
  toml: `[sop]
description = ""
version = "1.0"
execution_mode = "supervised"
enabled = false

[[triggers]]
type = "manual"
`,
  markdown: `# ${name}

## Steps

1. **First step** — Say what to do.
`,
});

/** Throws SOP_INVALID for an edit that can't be made. */
export async function draftOf(
  name: string,
  text: SopText,
  edits: readonly SopEdit[],
  { rules, known }: DraftOptions,
): Promise<SopDraft> {
  let edited = text;
  for (const edit of edits) edited = await applied(edited, edit);
  const { checked, table, written } = await examineSop(filesOf(name, edited), rules, known);
  const misnamed: Problem[] = SOP_NAME.test(name)
    ? []
    : [{ code: "SOP_INVALID", file: "SOP.toml", key: "", message: NAME_RULE }];
  return {
    ...edited,
    problems: [...misnamed, ...checked.problems],
    warnings: checked.warnings,
    form: table ? formOf(table, written) : null,
  };
}

/** The folder is for the name alone: nothing of it is read. */
const filesOf = (name: string, { toml, markdown }: SopText): SopFiles => ({
  folder: join("/", name),
  toml,
  markdown,
});

const ROOTS: ReadonlySet<string | number | undefined> = new Set(["sop", "triggers", "steps"]);

async function applied(text: SopText, edit: SopEdit): Promise<SopText> {
  if ("path" in edit) {
    const { path } = edit;
    if (!ROOTS.has(path[0]) || path.length < 2) throw refused("There is no such key in SOP.toml.");
    if ("remove" in edit) return { ...text, toml: await edited(text.toml, [{ path, remove: true }]) };
    return { ...text, toml: await withValue(text.toml, path, edit.value) };
  }
  const table = await tableOf(text.toml);
  const inToml = Array.isArray(table["steps"]) && table["steps"].length > 0;
  if (inToml) return { ...text, toml: await editTomlStep(text.toml, table["steps"] as readonly unknown[], edit) };
  return { ...text, markdown: await editSteps(text.markdown ?? "", edit) };
}

const refused = (message: string, cause?: unknown): SvcError =>
  new SvcError("SOP_INVALID", message, { hint: "Edit the source of SOP.toml.", cause });

const NOT_TOML = "SOP.toml is not TOML: correct its source first.";

async function edited(toml: string, edits: Parameters<typeof applyConfigEdits>[1]): Promise<string> {
  return applyConfigEdits(toml, edits).catch((error: unknown) => {
    if (!(error instanceof SvcError)) throw error;
    const isSyntax = error.code === "CONFIG_INVALID";
    throw refused(isSyntax ? NOT_TOML : error.message, error);
  });
}

async function tableOf(toml: string): Promise<Table> {
  const { table } = await examineSop(filesOf("x", { toml, markdown: undefined }), {
    defaultMode: "auto",
    reserved: [],
  });
  if (!table) throw refused(NOT_TOML);
  return table;
}

/** The first trigger or step is a table with a header, as people write them. */
async function withValue(toml: string, path: readonly (string | number)[], value: Json): Promise<string> {
  const [root, index, ...rest] = path;
  const isFirst = index === 0 && rest.length === 0 && isTable(value) && root !== "sop";
  const items = isFirst ? (await tableOf(toml))[String(root)] : undefined;
  if (!isFirst || items !== undefined) return edited(toml, [{ path, value: value as ConfigValue }]);
  const eol = toml.includes("\r\n") ? "\r\n" : "\n";
  const block = await edited(
    `[[${root}]]\n`,
    Object.entries(value).map(([key, inner]) => ({
      path: [root!, 0, key],
      value: inner as ConfigValue,
    })),
  );
  return `${toml.trimEnd()}${eol}${eol}${block.replaceAll("\n", eol)}`;
}

async function editTomlStep(toml: string, steps: readonly unknown[], edit: StepEdit): Promise<string> {
  const at = edit.step - 1;
  if ("remove" in edit) return edited(toml, [{ path: ["steps", at], remove: true }]);
  if ("to" in edit) return setStep(toml, steps, at, stepTable(edit.to, steps[at]));
  const order = [...steps];
  const [moved] = order.splice(at, 1);
  order.splice(edit.move - 1, 0, moved);
  let text = toml;
  for (const [index, step] of order.entries()) text = await setStep(text, steps, index, step as Table);
  return text;
}

/** Key by key, so that the comments of the others stay. */
async function setStep(toml: string, steps: readonly unknown[], at: number, to: Table): Promise<string> {
  const was = steps[at];
  if (!isTable(was)) return edited(toml, [{ path: ["steps", at], value: to as ConfigValue }]);
  const gone = Object.keys(was).filter((key) => to[key] === undefined);
  return edited(toml, [
    ...Object.entries(to).map(([key, value]) => ({ path: ["steps", at, key], value: value as ConfigValue })),
    ...gone.map((key) => ({ path: ["steps", at, key], remove: true as const })),
  ]);
}

/** What a step of SOP.toml has beyond a step of SOP.md stays. */
function stepTable({ title, body, kind, tools, requiresConfirmation }: StepText, was: unknown): Table {
  const rest = isTable(was) ? { ...was } : {};
  for (const key of ["title", "body", "kind", "tools", "requires_confirmation"]) delete rest[key];
  return {
    title,
    ...rest,
    ...(body !== "" && { body }),
    ...(kind === "checkpoint" && { kind }),
    ...(tools.length > 0 && { tools: [...tools] }),
    ...(requiresConfirmation && { requires_confirmation: true }),
  };
}

/** What is wrong shows as it was written, as far as it is of the right kind; the problems say the rest. */
function formOf(table: Table, { steps, instructions }: ReadSteps): SopForm {
  const sop = isTable(table["sop"]) ? table["sop"] : {};
  const own = itemsOf(table["steps"]);
  return {
    sop: {
      description: text(sop["description"]) ?? "",
      version: text(sop["version"]) ?? "",
      priority: text(sop["priority"]) ?? "normal",
      execution_mode: text(sop["execution_mode"]) ?? null,
      cooldown_secs: number(sop["cooldown_secs"]) ?? 0,
      max_concurrent: number(sop["max_concurrent"]) ?? 1,
      agent: text(sop["agent"]) ?? null,
      enabled: sop["enabled"] !== false,
    },
    triggers: itemsOf(table["triggers"]).map(textsOf),
    steps_in: own.length > 0 ? "SOP.toml" : "SOP.md",
    steps: own.length > 0 ? own.map(tomlStep) : steps.map(markdownStep),
    instructions,
  };
}

const markdownStep = ({ title, body, kind, tools, requiresConfirmation }: ReadSteps["steps"][number]): SopStepForm => ({
  title,
  body,
  kind,
  tools: [...tools],
  requires_confirmation: requiresConfirmation,
  tool: null,
  args: null,
  trusted_input: false,
});

const tomlStep = (step: Table): SopStepForm => ({
  title: text(step["title"]) ?? "",
  body: text(step["body"]) ?? "",
  kind: step["kind"] === "checkpoint" ? "checkpoint" : "execute",
  tools: Array.isArray(step["tools"]) ? step["tools"].filter((tool) => typeof tool === "string") : [],
  requires_confirmation: step["requires_confirmation"] === true,
  tool: text(step["tool"]) ?? null,
  args: isTable(step["args"]) ? (JSON.parse(JSON.stringify(step["args"], plain)) as SopStepForm["args"]) : null,
  trusted_input: step["trusted_input"] === true,
});

/** JSON has no 64-bit integers. */
const plain = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const textsOf = (table: Table): { readonly [key: string]: string } =>
  Object.fromEntries(
    Object.entries(table).flatMap(([key, value]) => (typeof value === "string" ? [[key, value]] : [])),
  );
const itemsOf = (value: unknown): Table[] => (Array.isArray(value) ? value.filter(isTable) : []);

// What the desk takes and gives.

/** A procedure's files as they are, with what is wrong with them. */
export interface SopSource extends SopDraft {
  readonly name: string;
  readonly revision: string;
  /** Why they can't be changed here; undefined: they can. */
  readonly unwritable: string | undefined;
}

export interface SopSave extends SopText {
  /** Of the files that the change was made for; undefined: there are none yet. */
  readonly revision: string | undefined;
}

export interface SavedSop {
  readonly name: string;
  readonly revision: string;
  /** What an undo names; undefined: the files say so already. */
  readonly version: number | undefined;
  readonly warnings: readonly Problem[];
}

/** After a deletion or an undo. */
export interface UndoneSop extends Omit<SavedSop, "revision"> {
  /** Undefined: there is no such procedure any more. */
  readonly revision: string | undefined;
}
