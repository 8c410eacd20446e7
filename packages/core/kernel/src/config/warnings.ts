/** What is no mistake but should be known. None of it holds a value. */
import { statSync } from "node:fs";
import type { Home } from "../home.ts";
import { type Environment, variableName } from "./environment.ts";
import type { Section } from "./sections.ts";
import { walkSection } from "./walk-schema.ts";

const WRITABLE_BY_OTHERS = 0o022;
const READABLE_BY_OTHERS = 0o044;
const ANY_OF_OTHERS = 0o077;

/** `mode` is undefined on a system without permission bits. */
export function fileWarnings(
  file: string,
  mode: number | undefined,
  plainSecrets: boolean,
  home: Pick<Home, "secretKey">,
): string[] {
  if (mode === undefined) return [];
  const warnings: string[] = [];
  if (mode & WRITABLE_BY_OTHERS) warnings.push(`${file} can be changed by other users; run: chmod 600 ${file}`);
  else if (plainSecrets && mode & READABLE_BY_OTHERS) {
    warnings.push(`${file} holds secrets and can be read by other users; run: chmod 600 ${file}`);
  }
  if (modeOf(home.secretKey) & ANY_OF_OTHERS) {
    warnings.push(`${home.secretKey} is open to other users; run: chmod 600 ${home.secretKey}`);
  }
  return warnings;
}

function modeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
}

/** `keys`: of secrets that are too short. */
export const shortSecretWarnings = (keys: readonly string[]): string[] =>
  keys.map((key) => `${key} has fewer than four characters: too short to be kept out of the log`);

/** `SVC_GATEWAY_PORT` does nothing; who sets it means `SVC__GATEWAY__PORT`. */
export function variableWarnings(env: Environment, sections: readonly Section[]): string[] {
  const names = Object.keys(env).filter((name) => name.startsWith("SVC_") && !name.startsWith("SVC__"));
  if (names.length === 0) return [];
  const keys = sections.flatMap(walkSection);
  const named = new Set(keys.map(({ node }) => node.marks.env));
  const meant = new Map(keys.map((key) => [flat(variableName(key)), variableName(key)]));
  return names.flatMap((name) => {
    const variable = named.has(name) ? undefined : meant.get(flat(name));
    return variable === undefined ? [] : [`${name} is not read; did you mean ${variable}?`];
  });
}

const flat = (name: string): string => name.replaceAll("__", "_");
