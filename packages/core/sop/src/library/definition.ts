/** A procedure out of its two files: the definition, or everything that is wrong with it. */
import { basename, join } from "node:path";
import { badKey, checkDocument, type Finding, type Problem, type Table, type ToolPair } from "@svc/kernel";
import { definitionOf } from "./assemble.ts";
import { SOP_MD, SOP_TOML } from "./file-names.ts";
import type { Remark } from "./markdown-lines.ts";
import type { ReservedPaths } from "./path-rules.ts";
import { sopRules, unpairedTools } from "./rules.ts";
import { MOST_STEPS, sopSchema } from "./schema.ts";
import { type ReadSteps, readSteps } from "./steps-md.ts";
import type { ExecutionMode, SopDefinition } from "./types.ts";
import { type Known, unknownTools, warningsOf } from "./warnings.ts";

export interface SopFiles {
  /** Absolute path of its folder, whose name is the procedure's. */
  readonly folder: string;
  readonly toml: string;
  /** Undefined: there is none. */
  readonly markdown: string | undefined;
}

export interface DefinitionRules {
  /** Of a file that names none. */
  readonly defaultMode: ExecutionMode;
  readonly reserved: ReservedPaths;
  /** A step with the tool `beside` needs `tool` too: nothing may drive that can't stop. */
  readonly toolPairs?: readonly ToolPair[];
}

export interface CheckedSop {
  readonly name: string;
  /** Undefined where there are problems. */
  readonly definition: SopDefinition | undefined;
  /** SOP.toml first, each file in its order. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** There is no SOP.toml: somebody took it away, so no version of before stays in force. */
  readonly isMissing?: true;
}

/** `known`: for warnings, which only somebody who asks for them is told. */
export const checkSop = async (files: SopFiles, rules: DefinitionRules, known?: Known): Promise<CheckedSop> =>
  (await examineSop(files, rules, known)).checked;

export interface ExaminedSop {
  readonly checked: CheckedSop;
  /** SOP.toml as it was written, right or wrong; undefined: it is not TOML. */
  readonly table: Table | undefined;
  readonly written: ReadSteps;
}

/** The same, with what the files say. */
export async function examineSop(files: SopFiles, rules: DefinitionRules, known?: Known): Promise<ExaminedSop> {
  const { folder, toml, markdown } = files;
  const name = basename(folder);
  const written = await readSteps(markdown ?? "");
  const remarks = (list: readonly Remark[]): Problem[] =>
    list.slice(0, MOST_REMARKS).map((remark) => placed(remark, join(folder, SOP_MD)));
  const stepsInMarkdown = written.steps.length > 0;
  const document = await checkDocument(
    { file: join(folder, SOP_TOML), text: toml, code: "SOP_INVALID" },
    sopSchema,
    (table) => sopRules(table, { name, stepsInMarkdown, ...rules }),
  );
  const unpaired = written.steps.flatMap(({ tools }, index) =>
    unpairedTools(tools, rules.toolPairs).map((message) => ({
      line: written.stepLines[index] ?? 1,
      column: 1,
      message,
    })),
  );
  const problems = [...document.problems, ...remarks([...written.problems, ...unpaired])];
  if (document.table && !stepsInMarkdown && !hasSteps(document.table)) problems.push(noSteps(files, written));
  if (written.steps.length > MOST_STEPS) problems.push(placed(TOO_MANY, join(folder, SOP_MD)));
  const definition =
    document.value && problems.length === 0
      ? definitionOf(name, document.value, written, rules.defaultMode)
      : undefined;
  const examined = (warnings: readonly Problem[]): ExaminedSop => ({
    checked: { name, definition, problems, warnings },
    table: document.table,
    written,
  });
  if (!definition || !known) return examined(remarks(written.warnings));
  const noted = stepsInMarkdown ? absentTools(definition, written, known) : [];
  const findings = [...warningsOf(definition, known), ...(stepsInMarkdown ? [] : absentCalls(definition, known))];
  const warnings = [...(await document.place(findings)), ...remarks([...written.warnings, ...noted])];
  return examined(warnings);
}

const ABSENT = "names a tool that this build does not have";

const absentTools = ({ steps }: SopDefinition, { stepLines }: ReadSteps, known: Known): Remark[] =>
  steps.flatMap((step, index) =>
    unknownTools(step, known).map(() => ({ line: stepLines[index] ?? 1, column: 1, message: `this step ${ABSENT}` })),
  );

const absentCalls = ({ steps }: SopDefinition, known: Known): Finding[] =>
  steps.flatMap((step, index) => unknownTools(step, known).map(() => badKey(["steps", index], ABSENT)));

/** Of SOP.md, as of SOP.toml. */
const MOST_REMARKS = 100;

const TOO_MANY: Remark = { line: 1, column: 1, message: `there are more than ${MOST_STEPS} steps` };

function placed({ line, column, message, allowed, didYouMean }: Remark, file: string): Problem {
  const more = { ...(allowed !== undefined && { allowed }), ...(didYouMean !== undefined && { didYouMean }) };
  return { code: "SOP_INVALID", file, line, column, key: "", message, ...more };
}

/** Also such as are wrong: that is told then. */
const hasSteps = ({ steps }: Table): boolean => steps !== undefined && !(Array.isArray(steps) && steps.length === 0);

function noSteps({ folder, markdown }: SopFiles, { hasSection }: ReadSteps): Problem {
  const message = hasSection
    ? "there is no step under ## Steps; one is like: 1. **Title** — what is to be done"
    : "there are no steps: neither under ## Steps in SOP.md, nor as [[steps]] in SOP.toml";
  return { code: "SOP_INVALID", file: join(folder, markdown === undefined ? SOP_TOML : SOP_MD), key: "", message };
}
