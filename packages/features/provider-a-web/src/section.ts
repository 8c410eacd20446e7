/** The keys of `[channels_config.provider_a]` that Web mode reads; `channel-provider-a` declares them. */

export interface WebSection {
  readonly session_path: string;
  readonly pair_phone?: string | undefined;
  readonly mode: "business" | "personal";
  readonly allowed_numbers: readonly string[];
  readonly group_policy: "allowlist" | "ignore";
  readonly mention_only: boolean;
  readonly api_url: string;
  readonly web_version?: string | undefined;
  readonly web_root_key?: string | undefined;
}

/** The channel's id: the last part of the section's name. */
export const CHANNEL = "provider_a";

/** Where the account is linked again, in every message that says that it is not. */
export const LINK_HINT = "Link the account: svc channels link provider_a";

/** `api_url` is Cloud mode's unless it was set for a proxy or a test. */
const CLOUD_HOST = "graph.facebook.com";

export function socketUrl({ api_url: url }: Pick<WebSection, "api_url">): string {
  const { protocol, hostname, host } = new URL(url);
  if (hostname === CLOUD_HOST) return "wss://web.whatsapp.com/ws/chat";
  return `${protocol === "http:" ? "ws" : "wss"}://${host}/ws/chat`;
}

/** Where files are fetched from: what a message says of the host is its sender's word. */
export function mediaOrigin({ api_url: url }: Pick<WebSection, "api_url">): string {
  const { hostname, origin } = new URL(url);
  return hostname === CLOUD_HOST ? "https://mmg.whatsapp.net" : origin;
}

/** Where a file is sent to, of the hosts that the platform offers; undefined for one that is not its own. */
export function uploadOrigin(section: Pick<WebSection, "api_url">, host: string): string | undefined {
  const own = mediaOrigin(section);
  if (new URL(own).host === host) return own;
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.whatsapp\.net$/.test(host) ? `https://${host}` : undefined;
}

/** Undefined: the library's. */
export function versionOf({
  web_version: text,
}: Pick<WebSection, "web_version">): [number, number, number] | undefined {
  if (text === undefined) return undefined;
  const [major = 0, minor = 0, patch = 0] = text.split(".").map(Number);
  return [major, minor, patch];
}
