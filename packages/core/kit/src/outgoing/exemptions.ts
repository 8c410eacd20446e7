import { SvcError } from "@svc/contract";

/** Whether a connection to this scheme, host and port may go to a private address. */
export type IsExempt = (protocol: string, hostname: string, port: string) => boolean;

/** Host and port must be equal to an entry's: a name that merely resolves to the same address is not exempt. */
export function exemptions(hostPorts: readonly string[], urls: readonly string[]): IsExempt {
  const allowed = new Set(hostPorts.map(hostPortKey));
  const origins = new Set(urls.map(originKey));
  return (protocol, hostname, port) => {
    const key = keyOf(hostname, port || defaultPort(protocol));
    return allowed.has(key) || origins.has(`${protocol}//${key}`);
  };
}

function hostPortKey(entry: string): string {
  const match = /^(\[[0-9a-f:.]+\]|[^\s:/@?#[\]\\]+):([0-9]{1,5})$/i.exec(entry.trim());
  const url = match && URL.canParse(`http://${match[0]}`) ? new URL(`http://${match[0]}`) : undefined;
  const port = Number(match?.[2]);
  if (!url || port < 1 || port > 65_535) {
    throw new SvcError("CONFIG_INVALID", "An entry of security.net.allow_private is not a host:port pair.", {
      hint: 'Write each entry as "host:port", for example "127.0.0.1:11434" or "[::1]:8080".',
    });
  }
  return keyOf(url.hostname, String(port));
}

function originKey(text: string): string {
  if (!URL.canParse(text)) throw new SvcError("CONFIG_INVALID", "An api_url is not a URL.");
  const url = new URL(asHttp(text));
  return `${url.protocol}//${keyOf(url.hostname, url.port || defaultPort(url.protocol))}`;
}

/** The URL of another protocol as http or https, with the port that it means. The host stays as it is spelled. */
export function asHttp(text: string): string {
  const [, secure] = /^mqtt(s?):/i.exec(text) ?? [];
  if (secure === undefined || !URL.canParse(text)) return text.replace(/^ws(s?):/i, "http$1:");
  const url = `http${text.slice("mqtt".length)}`;
  return new URL(text).port === "" ? url.replace(/^[a-z]+:\/\/[^/?#]+/i, `$&:${secure ? 8883 : 1883}`) : url;
}

/** Brackets differ between a URL's host and a connector's: neither has them here. */
const keyOf = (hostname: string, port: string): string =>
  `${hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase()} ${port}`;

const defaultPort = (protocol: string): string => (protocol === "https:" ? "443" : "80");
