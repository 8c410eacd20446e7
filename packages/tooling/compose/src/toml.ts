/** Reads a TOML file that people write: profiles and the list of planned features. */
import { readFileSync } from "node:fs";
import { SvcError } from "@svc/contract";
import toml from "@iarna/toml";
import * as v from "valibot";
import { problemsOf } from "./problems.ts";

/** @throws SvcError PROFILE_INVALID, with the file, the line of a syntax error or the keys that are wrong. */
export function readToml<Schema extends v.GenericSchema>(file: string, schema: Schema): v.InferOutput<Schema> {
  let value: unknown;
  try {
    value = toml.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const line = (error as { line?: number }).line;
    const what = line === undefined ? "can't be read" : "is not valid TOML";
    throw new SvcError("PROFILE_INVALID", `${file}${line === undefined ? "" : `:${line + 1}`} ${what}.`, {
      hint: "Correct the file.",
      cause: error,
    });
  }
  const problems = problemsOf(schema, value);
  if (problems.length > 0) {
    throw new SvcError("PROFILE_INVALID", `${file} breaks the schema.\n  ${problems.join("\n  ")}`, {
      hint: "Correct the keys above.",
    });
  }
  return v.parse(schema, value);
}
