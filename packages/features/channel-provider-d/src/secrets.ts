/** The platform has one secret for both directions; the config has two keys for it. Blank counts as unset. */
import type { Config } from "./index.ts";

export function secretsOf({ webhook_secret: webhook, app_token: token }: Config): Secrets {
  const incoming = webhook?.trim() ? webhook : undefined;
  return { incoming, outgoing: incoming ?? token };
}

interface Secrets {
  /** Undefined: deliveries are not checked. */
  readonly incoming: string | undefined;
  readonly outgoing: string;
}
