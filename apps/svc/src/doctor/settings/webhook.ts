/** What a caller of `POST /webhook`, and of the paths of procedures, has to show. */
import { error, type Finding, note, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

export function webhookFindings({ config }: Settings): Finding[] {
  const { gateway, "channels_config.webhook": webhook } = config.core;
  const asks = webhook.secret !== undefined || isSet(webhook.signing_secret);
  // Whoever has no token is refused then; a token is asked for nothing more.
  const refuses = !gateway.require_pairing && !asks && gateway.require_signatures;
  if (refuses) return [ok("require-pairing", NO_TOKEN_NO_SECRET), ok("webhook-secret", NO_TOKEN_NO_SECRET)];
  return [
    pairing(gateway.require_pairing, asks, gateway.public_url !== undefined),
    secondLock(gateway.require_pairing, asks),
  ];
}

/** A blank one counts as none. */
const isSet = (secret: string | undefined): boolean => secret !== undefined && secret.trim() !== "";

const NO_TOKEN_NO_SECRET =
  "Whoever calls POST /webhook without a token is refused: gateway.require_signatures is on, and no secret is set.";

function pairing(required: boolean, asks: boolean, isPublic: boolean): Finding {
  const id = "require-pairing";
  if (required) return ok(id, "POST /webhook needs a paired device's token.");
  const message = "POST /webhook needs no token (gateway.require_pairing = false)";
  const fix = "set gateway.require_pairing = true";
  if (asks) return warning(id, `${message}, only what [channels_config.webhook] asks for.`, fix);
  const open = `${message}, no secret and no signature`;
  return isPublic
    ? error(id, `${open}, while gateway.public_url is set.`, fix)
    : warning(id, `${open}: every program on this machine may use the agent.`, fix);
}

function secondLock(needsToken: boolean, asks: boolean): Finding {
  const id = "webhook-secret";
  if (asks) return ok(id, "POST /webhook needs a secret or a signature, too.");
  const fix = "set secret or signing_secret in [channels_config.webhook]";
  return needsToken
    ? note(id, "A token is all that POST /webhook asks for: no secret and no signature beside it.", fix)
    : warning(
        id,
        "POST /webhook takes messages without a secret or a signature.",
        `${fix}, or gateway.require_signatures = true`,
      );
}
