/** `svc secrets rotate`: by whoever has the home to itself. */
import type { FeatureDefinition, Json } from "@svc/contract";
import type { ControlHandlers } from "@svc/gateway/control";
import { type Home, type Rotated, type Vault, rotateSecretKey } from "@svc/config";

export interface SecretDeps {
  readonly home: Home;
  /** The config in force. */
  readonly file: () => string;
  readonly features: readonly FeatureDefinition[];
  readonly vault: Vault;
}

export function secretHandlers({ home, file, features, vault }: SecretDeps): ControlHandlers {
  let running: Promise<Rotated> | undefined;
  return {
    // Two at once would each make the other's new key the old one: the second is told what the first did.
    "secrets-rotate": async () => {
      running ??= rotateSecretKey({ home, file: file(), features, vault }).finally(() => (running = undefined));
      return { ...(await running) } as unknown as Json;
    },
  };
}
