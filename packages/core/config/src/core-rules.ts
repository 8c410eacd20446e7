/**
 * What core's values must be to each other, beyond their schemas. The parts that use the values check them again where it
 * matters; here they are found with everything else that is wrong, with their line, and by `svc config check`.
 */
import { isIPv4 } from "node:net";
import { isWebhookKey } from "@svc/contract";
import { PLAIN_PATH, agentRules, isPlainPath, modelFaults } from "./agent-rules.ts";
import type { CoreConfig } from "./core-schema.ts";
import { badValue, type Finding, wrongItems } from "./finding.ts";

/** Findings over the sections that are valid by themselves. */
export function coreRules(core: Partial<CoreConfig>): Finding[] {
  return [
    ...(core.gateway ? [...bindRules(core.gateway), ...proxyRules(core.gateway)] : []),
    ...(core.model ? modelFaults(core.model, ["model"]) : []),
    ...(core["channels_config.webhook"] ? signingRules(core["channels_config.webhook"]) : []),
    ...(core["security.policy"] ? pathRules(core["security.policy"]) : []),
    ...(core["security.net"] ? privateRules(core["security.net"]) : []),
    // A blank path would be the home itself, with the database and the key in it.
    ...(core.workspace?.path?.trim() === "" ? [badValue(["workspace", "path"], "must be a path, not blank")] : []),
    ...(core.transcription?.enabled ? speechRules("transcription", core.transcription) : []),
    ...(core.tts?.enabled ? speechRules("tts", core.tts) : []),
    ...agentRules(core),
  ];
}

function bindRules({ host, allow_public_bind, require_pairing }: CoreConfig["gateway"]): Finding[] {
  if (host.toLowerCase() === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."))) return [];
  // What else is loopback (::ffff:127.0.0.1 and its like) is the gateway's to judge: here only what surely is not.
  if (/^::ffff:/i.test(host) || /^[0:]*:0*1$/.test(host)) return [];
  const at = { code: "PUBLIC_BIND" } as const;
  if (!require_pairing) {
    const message = "false is only for a gateway bound to loopback";
    return [badValue(["gateway", "require_pairing"], message, at)];
  }
  const message = "binding an address that other machines can reach needs gateway.allow_public_bind = true";
  return allow_public_bind ? [] : [badValue(["gateway", "host"], message, at)];
}

const OPENAI = "https://api.openai.com/v1";

/** Who is chosen has what it needs, and nothing is set that would do nothing. */
function speechRules(
  section: "transcription" | "tts",
  { provider, command, base_url: baseUrl }: CoreConfig["transcription" | "tts"],
): Finding[] {
  if (provider !== "command") {
    if (command) return [badValue([section, "command"], 'needs provider = "command"', { at: "key" })];
    if (provider === "openai" || baseUrl !== OPENAI) return [];
    return [badValue([section, "provider"], "openai-compatible needs base_url, the address of the service")];
  }
  if (!command) return [badValue([section, "provider"], "command needs command, a program and its arguments")];
  if (command[0]!.includes("{")) return [badValue([section, "command", 0], "must be a program")];
  if (section === "tts" || command.some((word) => /\{(?:file|wav)\}/.test(word))) return [];
  return [badValue([section, "command"], "must have {file} or {wav}, which become the path of the recording")];
}

const proxyRules = ({ trusted_proxies: blocks }: CoreConfig["gateway"]): Finding[] =>
  wrongItems(["gateway", "trusted_proxies"], blocks, isBlock, "must be an IP address or a CIDR block");

function isBlock(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const most = isIPv4(address) ? 32 : isIPv6(address) ? 128 : undefined;
  if (most === undefined || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
}

/** By the parser of URLs: the pattern of node:net takes longer to compile than the whole config to load. */
const isIPv6 = (text: string): boolean => /^[0-9a-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]`);

const signingRules = ({ signing_secret: secret = "" }: CoreConfig["channels_config.webhook"]): Finding[] =>
  isWebhookKey(secret)
    ? []
    : [badValue(["channels_config", "webhook", "signing_secret"], "what follows whsec_ must be base64")];

const pathRules = ({ forbidden_paths: paths }: CoreConfig["security.policy"]): Finding[] =>
  wrongItems(["security", "policy", "forbidden_paths"], paths, isPlainPath, PLAIN_PATH);

const privateRules = ({ allow_private: entries }: CoreConfig["security.net"]): Finding[] =>
  wrongItems(["security", "net", "allow_private"], entries, isHostPort, 'must be "host:port"');

function isHostPort(entry: string): boolean {
  const match = /^(\[[0-9a-f:.]+\]|[^\s:/@?#[\]\\]+):([0-9]{1,5})$/i.exec(entry.trim());
  const port = Number(match?.[2]);
  return match !== null && URL.canParse(`http://${match[0]}`) && port >= 1 && port <= 65_535;
}
