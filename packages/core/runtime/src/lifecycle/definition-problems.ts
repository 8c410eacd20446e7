/** What definitions alone can get wrong among each other. Pure: the composer asks it too, before anything is loaded. */
import type { FeatureDefinition } from "@svc/contract";
import type { GenericSchema } from "valibot";

const ID = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const SECTION = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*$/;

/**
 * Every problem as a sentence. `definitions`: all features of the build, on or off, as a conflict between two that are
 * off would come up on the day someone turns them on. `coreSections`: what core owns.
 */
export function definitionProblems(
  definitions: readonly FeatureDefinition[],
  coreSections: Readonly<Record<string, GenericSchema>>,
): string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  const owners = new Map<string, string>(Object.keys(coreSections).map((section) => [section, "core"]));
  const keys = new Map<string, Map<string, string>>();
  for (const [section, schema] of Object.entries(coreSections)) keys.set(section, claimed(keysOf(schema), "core"));

  const commands = new Map<string, string>();
  for (const definition of definitions) {
    for (const command of Object.keys(definition.commands ?? {})) {
      const other = commands.get(command);
      if (other === undefined) commands.set(command, definition.id);
      else problems.push(`command "${command}" is offered by both feature "${other}" and feature "${definition.id}"`);
    }
  }

  const features = new Set(definitions.filter(({ partOf }) => partOf === undefined).map(({ id }) => id));
  for (const { id, partOf, section, extends: extended, config } of definitions) {
    const who = `feature ${JSON.stringify(id)}`;
    if (!ID.test(id)) problems.push(`${who}: an id is lower-case words joined by "-"`);
    if (ids.has(id)) problems.push(`${who} is in the build twice`);
    ids.add(id);
    if (partOf !== undefined) {
      if (!features.has(partOf))
        problems.push(`${who} is a part of ${JSON.stringify(partOf)}, which is not in the build`);
      if (!id.startsWith(`${partOf}-`)) problems.push(`${who}: the id of a part begins with "${partOf}-"`);
      if (section === undefined && extended === undefined)
        problems.push(`${who} is a part of a feature and has no section`);
    }
    for (const name of [section, extended]) {
      if (name !== undefined && !SECTION.test(name)) problems.push(`${who}: bad section name ${JSON.stringify(name)}`);
    }
    if (section !== undefined && extended !== undefined) problems.push(`${who} owns a section and extends one`);
    if (config !== undefined && section === undefined && extended === undefined) {
      problems.push(`${who} has a config schema and no section`);
    }
    if (section === undefined) continue;
    const owner = owners.get(section);
    if (owner === undefined) {
      owners.set(section, who);
      keys.set(section, claimed(keysOf(config), who));
    } else problems.push(`section [${section}] is owned by both ${owner} and ${who}`);
  }

  for (const { id, extends: extended, config } of definitions) {
    if (extended === undefined) continue;
    const who = `feature ${JSON.stringify(id)}`;
    const taken = keys.get(extended);
    if (taken === undefined) problems.push(`${who} extends section [${extended}], which no feature owns`);
    else addKeys(extended, keysOf(config), who, taken, problems);
  }
  return [...problems, ...nestingProblems(owners, keys)];
}

function addKeys(section: string, added: string[], who: string, taken: Map<string, string>, problems: string[]): void {
  for (const key of added) {
    const other = taken.get(key);
    if (other === undefined) taken.set(key, who);
    else problems.push(`key ${JSON.stringify(key)} of section [${section}] is declared by both ${other} and ${who}`);
  }
}

/** `[a.b]` is also the key `b` of `[a]`: two owners of the same lines of the file. */
function nestingProblems(
  owners: ReadonlyMap<string, string>,
  keys: ReadonlyMap<string, Map<string, string>>,
): string[] {
  const problems: string[] = [];
  for (const [section, who] of owners) {
    const parts = section.split(".");
    for (let depth = 1; depth < parts.length; depth += 1) {
      const parent = parts.slice(0, depth).join(".");
      const other = keys.get(parent)?.get(parts[depth] as string);
      if (other !== undefined) problems.push(`section [${section}] of ${who} is a key of [${parent}], of ${other}`);
    }
  }
  return problems;
}

const claimed = (keys: readonly string[], who: string): Map<string, string> => new Map(keys.map((key) => [key, who]));

function keysOf(schema: GenericSchema | undefined): string[] {
  const entries: unknown = schema !== undefined && "entries" in schema ? schema.entries : undefined;
  return typeof entries === "object" && entries !== null ? Object.keys(entries) : [];
}
