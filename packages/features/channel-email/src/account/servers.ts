/** The two servers of the section: where they are, and how a connection to them is kept from others' eyes. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { isPublicAddress } from "@svc/kit";
import { readFile } from "node:fs/promises";
import type { Config } from "../config.ts";

export interface Server {
  readonly host: string;
  readonly port: number;
  readonly security: "tls" | "starttls" | "none";
}

export function imapServer({ imap_host: host, imap_port, imap_security }: Config): Server {
  const security = imap_security ?? (imap_port === 143 ? "starttls" : "tls");
  return { host, security, port: imap_port ?? (security === "tls" ? 993 : 143) };
}

export function smtpServer({ smtp_host: host, smtp_port, smtp_security }: Config): Server {
  const security = smtp_security ?? (smtp_port === 587 || smtp_port === 25 ? "starttls" : "tls");
  return { host, security, port: smtp_port ?? (security === "tls" ? 465 : 587) };
}

/**
 * Where to connect to. Without encryption that is this machine, or an address that the operator allowed by its host and port.
 * Throws ADDRESS_REFUSED for another one: the password would go out readable.
 */
export async function hostOf({ host, port, security }: Server, resolve: FeatureContext["resolve"]): Promise<string> {
  if (security !== "none" || LOOPBACK.test(host)) return host;
  const [address, ...others] = await resolve(`http://${host.includes(":") ? `[${host}]` : host}:${port}`);
  if (address !== undefined && ![address, ...others].some(isPublicAddress)) return address;
  throw new SvcError("ADDRESS_REFUSED", "The password and all mail would go to a public address unencrypted.", {
    hint: "Set imap_security and smtp_security to tls or starttls.",
  });
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** What the `tls` options of a connection are. Throws CONFIG_INVALID for a file that can't be read. */
export async function trustOf({ tls_ca_file: path }: Pick<Config, "tls_ca_file">): Promise<Trust> {
  const strict = { rejectUnauthorized: true, minVersion: "TLSv1.2" } as const;
  if (path === undefined) return strict;
  const ca = await readFile(path, "utf8").catch(() => "");
  if (ca.includes("-----BEGIN CERTIFICATE-----")) return { ...strict, ca };
  throw new SvcError("CONFIG_INVALID", "The file of tls_ca_file can't be read, or holds no certificate.", {
    hint: "It is a PEM file that the service's user may read.",
  });
}

export interface Trust {
  readonly rejectUnauthorized: true;
  readonly minVersion: "TLSv1.2";
  readonly ca?: string;
}
