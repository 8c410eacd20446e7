/** What is posted to the operator's own URL: whether it goes anywhere, and whether its receiver can tell it from anybody's. */
import { type Finding, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

const SECTION = "channels_config.webhook";

export function outgoingWebhookFindings({ config }: Settings): Finding[] {
  // Keys of a feature, which a build may lack: then none of them is there.
  const { url, url_secret: secret, ...others } = (config.section(SECTION) ?? {}) as Readonly<Record<string, unknown>>;
  if (isSet(url)) return [isSet(secret) ? ok(SIGNED, "What is posted to your URL is signed.") : unsigned()];
  const useless = ONLY_WITH_URL.filter((key) => isSet(others[key]));
  return useless.length === 0 && !isSet(secret) ? [] : [nowhere(useless[0] ?? "url_secret")];
}

const SIGNED = "outgoing-webhook-signature";
const ONLY_WITH_URL = ["authorization", "notification_target", "allowed_targets"];

const isSet = (value: unknown): boolean =>
  typeof value === "string" ? value.trim() !== "" : Array.isArray(value) && value.length > 0;

function unsigned(): Finding {
  const message = `Who receives what ${SECTION}.url says can't tell it from anybody's: it is not signed.`;
  return warning(SIGNED, message, `svc secrets set ${SECTION}.url_secret`);
}

const nowhere = (key: string): Finding =>
  warning(
    "outgoing-webhook",
    `${SECTION}.${key} does nothing: no url is set.`,
    `svc config set ${SECTION}.url https://…`,
  );
