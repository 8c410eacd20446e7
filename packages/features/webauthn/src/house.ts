/** What the endpoints share: made once for each instance of the feature. */
import type { FeatureContext } from "@svc/contract";
import type { Challenges } from "./challenges.ts";
import type { Passkeys } from "./passkeys.ts";
import type { RelyingParty } from "./relying-party.ts";

export interface House extends Pick<FeatureContext, "clock" | "log"> {
  /** Throws CONFIG_INVALID; registration has found that out before. */
  readonly party: () => RelyingParty;
  readonly challenges: Challenges;
  readonly passkeys: Passkeys;
  /** A passkey signs in without a bearer. */
  readonly signsIn: boolean;
}
