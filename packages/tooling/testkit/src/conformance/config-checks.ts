/** The config schema: takes what it documents, refuses everything else, at every depth. */
import type { FeatureDefinition } from "@svc/contract";
import * as v from "valibot";
import { demand, type Check } from "../check.ts";

type Section = Readonly<Record<string, unknown>>;

export function configChecks(definition: FeatureDefinition, example: Section | undefined): Check[] {
  const { config: schema } = definition;
  if (schema === undefined) return [];
  return [
    {
      name: "the schema takes the example",
      run() {
        demand(example !== undefined, "hand in `config`, a valid example of the section");
        const { issues } = v.safeParse(schema, example);
        demand(issues === undefined, `refused: ${issues?.map((issue) => v.getDotPath(issue)).join(", ")}`);
      },
    },
    {
      name: "the schema refuses an unknown key, at every depth",
      run() {
        for (const [where, altered] of withUnknownKey(example ?? {})) {
          demand(!v.safeParse(schema, altered).success, `an unknown key is taken ${where}; use v.strictObject`);
        }
      },
    },
    {
      name: "the schema takes nothing but a table",
      run() {
        // An empty list is to valibot what an empty table is; the kernel hands tables over.
        for (const other of [null, "x", 1, true, [1]]) {
          demand(!v.safeParse(schema, other).success, `${JSON.stringify(other)} is taken for a section`);
        }
      },
    },
    {
      name: "no message of the schema quotes the value it refused",
      run() {
        const canary = "canary-7f3a-secret";
        for (const key of Object.keys(example ?? {})) {
          for (const bad of [canary, [canary], { [canary]: canary }]) {
            const { issues = [] } = v.safeParse(schema, { ...example, [key]: bad });
            for (const issue of issues.filter((issue) => hasOwnMessage(issue.message))) {
              demand(!issue.message.includes(canary), `the message of ${JSON.stringify(key)} quotes it`);
            }
          }
        }
      },
    },
  ];
}

/** valibot's default messages are replaced by the kernel's own; only what a feature wrote itself is judged here. */
const hasOwnMessage = (message: string): boolean => !message.startsWith("Invalid ");

/** The example once for every table in it, with a key that nobody knows. */
function* withUnknownKey(section: Section): Generator<[where: string, altered: Section]> {
  yield ["at the top", { ...section, key_nobody_knows: 1 }];
  for (const [key, value] of Object.entries(section)) {
    if (isTable(value)) {
      for (const [where, altered] of withUnknownKey(value))
        yield [`${where} of ${key}`, { ...section, [key]: altered }];
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        if (!isTable(item)) continue;
        for (const [where, altered] of withUnknownKey(item)) {
          yield [`${where} of ${key}`, { ...section, [key]: value.with(index, altered) }];
        }
      }
    }
  }
}

const isTable = (value: unknown): value is Section =>
  typeof value === "object" && value !== null && !Array.isArray(value);
