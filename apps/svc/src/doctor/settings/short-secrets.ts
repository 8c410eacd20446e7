/** Secrets that the log can't be kept clean of. */
import { type Finding, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

export function shortSecretFindings({ config }: Settings): Finding[] {
  const keys = config.shortSecrets();
  if (keys.length === 0) return [ok("secrets-short", "Every secret is long enough to be kept out of the log.")];
  return keys.map((key) => {
    const variable = config.setBy(key);
    const how = variable === undefined ? `svc secrets set ${key}` : `change ${variable}`;
    const message = `${key} has fewer than four characters: too short to be kept out of the log.`;
    return warning("secrets-short", message, `choose a longer one where it comes from, then: ${how}`);
  });
}
