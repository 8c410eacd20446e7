import { hash, timingSafeEqual } from "node:crypto";

/**
 * Whether a token that came is the configured one, in a time that tells nothing of either, their lengths included. Blank
 * is never equal: an unset secret must not let in who sends none.
 */
export function equalSecrets(given: string | undefined, secret: string | undefined): boolean {
  if (given === undefined || secret === undefined || given.trim() === "" || secret.trim() === "") return false;
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", secret, "buffer"));
}
