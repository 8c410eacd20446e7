/** Secrets that are ours to choose, and were chosen so short that they can be guessed. */
import { walkSchema } from "@svc/kernel";
import { type Finding, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

/** `svc init` makes them with 32 random bytes. Letters and digits of a person have some four bits each. */
const LEAST_CHARS = 16;
const ID = "secrets-weak";

export function weakSecretFindings({ config, features }: Settings): Finding[] {
  const weak = walkSchema(features)
    .filter(({ node }) => node.marks.generate === true)
    .filter(({ section, path }) => isWeak(valueOf(config.section(section), path.slice(section.split(".").length))));
  if (weak.length === 0) return [ok(ID, "No secret of this service's own is short enough to be guessed.")];
  return weak.map(({ key }) => {
    const message = `${key} has fewer than ${LEAST_CHARS} characters: it can be guessed.`;
    return warning(ID, message, `openssl rand -hex 32, then: svc secrets set ${key}; whoever sends it needs it too`);
  });
}

const isWeak = (secret: unknown): boolean =>
  typeof secret === "string" && secret.trim() !== "" && secret.trim().length < LEAST_CHARS;

const valueOf = (section: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name], section);
