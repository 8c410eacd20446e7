/** A key as a person types it, and as problems show it: `agents.helper.model.api_key`, `prices."a.b"`, `boards[0].token`. */
import type { Path } from "./table.ts";
import type { SchemaKey } from "./walk-schema.ts";

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
