/** Which key of the config one means that a person typed. */
import { type FeatureDefinition, SvcError } from "@svc/contract";
import { matchKey, readKey } from "./key-text.ts";
import { nearest } from "./suggest.ts";
import { keyText, type Path } from "./table.ts";
import { type SchemaKey, walkSchema } from "./walk-schema.ts";

export interface TypedKey {
  readonly path: Path;
  /** The key as problems spell it. */
  readonly name: string;
  readonly node: SchemaKey["node"];
}

/** The key of the schema that a typed one means. Throws USAGE, with what it may have meant. */
export async function typedKey(key: string, features: readonly FeatureDefinition[]): Promise<TypedKey> {
  const typed = readKey(key) ?? [];
  const keys = walkSchema(features);
  for (const candidate of keys) {
    const path = matchKey(candidate, typed);
    if (path) return { path, name: keyText(path), node: candidate.node };
  }
  const plain = keys.filter(({ path }) => !path.includes("*") && !path.includes("[]"));
  const meant = await nearest(
    key,
    plain.map((each) => each.key),
  );
  throw new SvcError("USAGE", "The config has no key of that name.", {
    hint: `${meant === undefined ? "" : `Did you mean ${meant}? `}All keys: svc config schema`,
  });
}
