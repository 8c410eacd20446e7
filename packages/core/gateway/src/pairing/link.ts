/** Links that sign a browser in by one click. The code is in the fragment: no server, proxy or log gets to see it. */
import { networkInterfaces } from "node:os";
import { isPublicBind, localUrl } from "../net/bind.ts";

export interface PairingLinks {
  /** For a browser on this machine. */
  readonly local: string;
  /** For a browser on another machine; undefined: the gateway listens on loopback only and has no `public_url`. */
  readonly remote: string | undefined;
}

export interface PairingLinkOptions {
  readonly code: string;
  /** The address listened on. */
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
}

export function pairingLinks({ code, host, port, publicUrl }: PairingLinkOptions): PairingLinks {
  const base = publicUrl ?? (isPublicBind(host) ? networkUrl(host, port) : undefined);
  return { local: linkOn(localUrl(host, port), code), remote: base === undefined ? undefined : linkOn(base, code) };
}

const linkOn = (base: string, code: string): string => `${new URL(base).origin}/#pair=${code}`;

/** The address listened on; of all addresses the first one that other machines can reach. */
function networkUrl(host: string, port: number): string | undefined {
  const isAny = host === "0.0.0.0" || host === "::" || host.trim() === "";
  const address = isAny ? firstAddress() : host;
  return address === undefined ? undefined : localUrl(address, port);
}

const firstAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && !one.internal && one.family === "IPv4")?.address;
