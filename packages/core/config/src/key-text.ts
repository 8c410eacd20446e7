/** A key as a person types it, and as problems show it: `agents.helper.model.api_key`, `prices."a.b"`, `boards[0].token`. */
import { type Path, keyText } from "./table.ts";
import { type SchemaKey, walkSchema } from "./sections.ts";
import { type FeatureDefinition, SvcError } from "@svc/contract";
import { nearest } from "./problem.ts";

const PART = /(?:^|\.)(?:([\w-]+)|("(?:[^"\\]|\\.)*")|'([^']*)')|\[(\d{1,6})\]/;

/** Undefined for what is no key. */
export function readKey(text: string): Path | undefined {
  const path: (string | number)[] = [];
  const part = new RegExp(PART, "y");
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (!match || (path.length === 0 && /^[.[]/.test(text))) return undefined;
    const [, bare, quoted, literal, index] = match;
    const name = index === undefined ? (bare ?? literal ?? unquoted(quoted)) : Number(index);
    if (name === undefined) return undefined;
    path.push(name);
  }
  return path.length > 0 ? path : undefined;
}

function unquoted(text = ""): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

/** What was typed as a path of this key, with numbers where the schema has lists; undefined when it is another key. */
export function matchKey({ path }: SchemaKey, typed: Path): Path | undefined {
  if (path.length !== typed.length) return undefined;
  const found = path.map((name, index) => {
    const given = typed[index]!;
    if (name === "[]") return /^\d+$/.test(String(given)) ? Number(given) : undefined;
    return typeof given === "string" && (name === "*" || name === given) ? given : undefined;
  });
  return found.every((name) => name !== undefined) ? found : undefined;
}

/** Which key of the config one means that a person typed. */
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
