/** A TOML file that is not the config, e.g. a procedure: checked like it, by a schema of its own. */
import type { ErrorCode } from "@svc/contract";
import type { GenericSchema, InferOutput } from "valibot";
import { type Finding, type Problem, report, withoutVague } from "./problem.ts";
import { partOf, type Section } from "./sections.ts";
import { checkStructure, validateSection } from "./validate.ts";
import type { Table } from "./table.ts";
import { parseToml } from "./toml.ts";

export interface DocumentSource {
  /** Absolute path, for what is said of it; it is not read. */
  readonly file: string;
  readonly text: string;
  /** Of its problems. */
  readonly code: ErrorCode;
}

/** A person fixes no more at a time, and to look for the place and the meaning of thousands takes seconds. */
const MOST_PROBLEMS = 100;

export interface CheckedDocument<Value> {
  /** Undefined where there are problems. */
  readonly value: Value | undefined;
  /** As it was written, right or wrong; undefined: it is not TOML. */
  readonly table: Table | undefined;
  /** In the order of the file, at most 100. */
  readonly problems: readonly Problem[];
  /** Findings of the caller that are no problems, e.g. warnings, with their places in the file. */
  place(findings: readonly Finding[]): Promise<readonly Problem[]>;
}

/** `rules` finds what no schema can say; what it is handed need not fit the schema. */
export async function checkDocument<Schema extends GenericSchema>(
  { file, text, code }: DocumentSource,
  schema: Schema,
  rules: (table: Table) => readonly Finding[],
): Promise<CheckedDocument<InferOutput<Schema>>> {
  const parsed = await parseToml(text);
  if ("fault" in parsed) {
    const problems = [{ code, file, key: "", ...parsed.fault }];
    return { value: undefined, table: undefined, problems, place: async () => [] };
  }
  const place = (findings: readonly Finding[]): Promise<readonly Problem[]> =>
    report(
      findings.map((finding) => ({ ...finding, code })),
      { file, text, origins: new Map(), secrets: [] },
    );
  const section = sectionOfDocument(schema);
  const { table } = parsed;
  const structure = checkStructure(table, { section, children: new Map(), absent: [], aliases: new Map() });
  const { value, findings } = validateSection(section, table, false);
  const problems = withoutVague([...structure, ...findings, ...rules(table)]);
  if (problems.length > 0) {
    return { value: undefined, table, problems: await place(problems.slice(0, MOST_PROBLEMS)), place };
  }
  return { value: value as InferOutput<Schema>, table, problems: [], place };
}

/** To the checks a document is one nameless section. */
function sectionOfDocument(schema: GenericSchema): Section {
  const part = partOf("core", schema);
  return { name: "", path: [], core: true, parts: [part], entries: part.entries };
}
