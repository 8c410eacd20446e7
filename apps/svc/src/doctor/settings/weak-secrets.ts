/** Secrets that are the operator's to choose, and were chosen so short that they can be guessed. */
import { LEAST_CHOSEN_CHARS } from "@svc/kernel";
import { type Finding, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

const ID = "secrets-weak";

export function weakSecretFindings({ config }: Settings): Finding[] {
  const keys = config.guessableSecrets();
  if (keys.length === 0) return [ok(ID, "No secret of this service's own is short enough to be guessed.")];
  return keys.map((key) => {
    const message = `${key} has fewer than ${LEAST_CHOSEN_CHARS} characters: it can be guessed.`;
    return warning(ID, message, `openssl rand -hex 32, then: svc secrets set ${key}; every sender of it needs it too`);
  });
}
