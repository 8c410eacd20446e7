/** The config's schema as forms need it: what each key takes, and who owns it. */
import { type CatalogueEntry, type FeatureDefinition, featureIdOf, type Json } from "@svc/contract";
import type { SchemaNode } from "../schema-node.ts";
import { sectionsOf } from "../sections.ts";

/** By section, in the order of the file's reference. */
export function formSchema(features: readonly FeatureDefinition[], catalogue: readonly CatalogueEntry[]): Json {
  const byId = new Map(catalogue.map((entry) => [entry.id, entry]));
  return [...sectionsOf(features).values()].map(({ name, path, core, parts, item }) => {
    const owner = features.find(({ section }) => section === name);
    const entry = owner && byId.get(featureIdOf(owner));
    return {
      name,
      path: [...path],
      core,
      ...(entry && { feature: entry.id, kind: entry.kind, summary: entry.summary, title: entry.title ?? "" }),
      fields: parts.flatMap(({ owner: by, entries }) =>
        [...entries].map(([key, node]) => ({ ...fieldOf(key, node), ...(by !== parts[0]!.owner && { owner: by }) })),
      ),
      ...(item && { item: fieldOf("*", item) }),
    } as Json;
  });
}

type Field = { [name: string]: Json };

function fieldOf(name: string, node: SchemaNode): Field {
  const { type, required, description, marks, min, max, choices, entries, item, open } = node;
  return {
    name,
    type,
    required,
    ...(node.default !== undefined && !marks.secret && { default: node.default }),
    ...(description !== undefined && { description }),
    ...(marks.secret && { secret: true }),
    ...(marks.generate && { generate: true }),
    ...(marks.ask && { ask: true }),
    ...(marks.restart && { restart: true }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && max !== Number.MAX_SAFE_INTEGER && { max }),
    ...(choices && { choices: [...choices] }),
    ...(open && { open }),
    ...(entries && { fields: [...entries].map(([key, inner]) => fieldOf(key, inner)) }),
    ...(item && { item: fieldOf("*", item) }),
  };
}
