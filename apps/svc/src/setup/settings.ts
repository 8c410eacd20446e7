/** Answers as text, made what their key takes. */
import { type FeatureDefinition, SvcError } from "@svc/contract";
import { type SchemaNode, expectation, readText, walkSchema } from "@svc/config";
import type { Setting } from "./draft.ts";

/** Text that can't be read so stays text, and the schema says what is wrong with it. */
export const readSetting = (node: SchemaNode, text: string): Setting =>
  (readText(node, text)?.value as Setting | undefined) ?? text;

/** Throws USAGE for a key that is none, and for a secret: an argument is seen by every user of the machine. */
export function settingOf(features: readonly FeatureDefinition[], key: string, text: string): Setting {
  const found = walkSchema(features).find((schemaKey) => schemaKey.key === key);
  if (!found) throw new SvcError("USAGE", "There is no key of that name.", { hint: "All keys: svc config schema" });
  if (found.node.marks.secret) {
    throw new SvcError("USAGE", `${key} is a secret and is not taken as an argument.`, {
      hint: `Set it afterwards: svc secrets set ${key}`,
    });
  }
  const read = readText(found.node, text);
  if (!read) throw new SvcError("USAGE", `${key} must be ${expectation(found.node)}.`);
  return read.value as Setting;
}
