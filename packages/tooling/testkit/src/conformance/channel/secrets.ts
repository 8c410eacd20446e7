/** The secrets of a section: found by the schema's marks, looked for in all that a channel says. */
import type { FeatureDefinition } from "@svc/contract";
import { walkSchema } from "@svc/config";
import { inspect } from "node:util";
import * as v from "valibot";
import { demand } from "../../check.ts";
import type { Section } from "./subject.ts";

type Path = readonly (string | number)[];

export const secretsOf = (definition: FeatureDefinition, section: Section): string[] =>
  placesOf(definition, section).map(([, value]) => value);

/** The same section with other secrets, each as long as before and different in its last character. */
export function withOtherSecrets(definition: FeatureDefinition, section: Section): Section {
  const other = structuredClone(section);
  for (const [path, value] of placesOf(definition, section)) {
    put(other, path, value.slice(0, -1) + (value.endsWith("a") ? "b" : "a"));
  }
  return other;
}

/** The same section without the secrets that it can do without. */
export function withoutSecrets(definition: FeatureDefinition, section: Section): Section {
  let least = section;
  for (const [path] of placesOf(definition, section)) {
    const less = structuredClone(least);
    put(less, path, undefined);
    if (v.safeParse(definition.config ?? v.any(), less).success) least = less;
  }
  return least;
}

function placesOf(definition: FeatureDefinition, section: Section): [Path, string][] {
  const name = definition.section ?? definition.extends ?? "";
  return walkSchema([definition])
    .filter(({ owner, node }) => owner === definition.id && node.marks.secret === true)
    .flatMap(({ path }) => filled(section, path.slice(name.split(".").length)));
}

/** Places that a path of the schema stands for: `*` and `[]` are every key there. */
function filled(holder: unknown, [first, ...rest]: readonly string[], before: Path = []): [Path, string][] {
  if (first === undefined) return typeof holder === "string" && holder !== "" ? [[before, holder]] : [];
  if (typeof holder !== "object" || holder === null) return [];
  const keys = first === "*" || first === "[]" ? Object.keys(holder) : [first];
  return keys.flatMap((key) => filled((holder as Section)[key], rest, [...before, key]));
}

function put(section: Section, path: Path, value: unknown): void {
  let holder = section as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<string | number, unknown>;
  const last = path.at(-1) as string | number;
  if (value === undefined) delete holder[last];
  else holder[last] = value;
}

/** As they are, and as they look in a URL and in base64. */
export function demandNoSecret(secrets: readonly string[], what: string, said: unknown): void {
  const text = typeof said === "string" ? said : everythingIn(said);
  for (const secret of secrets) {
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64")]) {
      demand(!text.includes(form), `${what} shows a secret`);
    }
  }
}

/** An error as anyone might print it: message, stack, hint, fields and causes. */
const everythingIn = (said: unknown): string =>
  inspect(said, { depth: 8, showHidden: true, getters: true, maxStringLength: null });
