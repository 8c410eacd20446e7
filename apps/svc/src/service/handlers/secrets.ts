/** `svc secrets rotate`: by whoever has the home to itself. */
import { type Home, type Rotated, rotateSecretKey, type Vault } from "@svc/config";
import type { FeatureDefinition } from "@svc/contract";
import type { Handlers } from "../control.ts";

export interface SecretDeps {
  readonly home: Home;
  /** The config in force. */
  readonly file: () => string;
  readonly features: readonly FeatureDefinition[];
  readonly vault: Vault;
}

export function secretHandlers({ home, file, features, vault }: SecretDeps): Pick<Handlers, "secrets-rotate"> {
  let running: Promise<Rotated> | undefined;
  return {
    // Two at once would each make the other's new key the old one: the second is told what the first did.
    "secrets-rotate": () => {
      running ??= rotateSecretKey({ home, file: file(), features, vault }).finally(() => (running = undefined));
      return running;
    },
  };
}
