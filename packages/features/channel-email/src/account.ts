/** The account: its two servers, and how the channel signs in. */
import { type Clock, type FeatureContext, SvcError } from "@svc/contract";
import { createAccessTokens, isPublicAddress, withTimeout } from "@svc/kit";
import { readFile } from "node:fs/promises";
import type { Config } from "./config.ts";

export interface Account extends Pick<FeatureContext<Config>, "config" | "clock" | "log" | "resolve"> {
  readonly logins: Logins;
  /** Lower case. */
  readonly address: string;
}

export function accountOf(context: FeatureContext<Config>): Account {
  const { config, clock, log } = context;
  return {
    config,
    clock,
    log,
    resolve: (url) => context.resolve(url),
    logins: createLogins(context),
    address: config.address.toLowerCase(),
  };
}

/** What the channel signs in with, at both servers: a password, or a token that is renewed by itself. */
export type Login =
  | { readonly user: string; readonly password: string; readonly token?: undefined }
  | { readonly user: string; readonly token: string; readonly password?: undefined };

interface Logins {
  /**
   * What `work` comes to with a login; when it is refused (CHANNEL_UNAUTHORIZED) and there is a newer token, once more with
   * that.
   */
  use<T>(work: (login: Login) => Promise<T>, signal: AbortSignal): Promise<T>;
}

function createLogins({ config, fetch, clock }: Pick<FeatureContext<Config>, "config" | "fetch" | "clock">): Logins {
  const { address, username: user = address, password = "" } = config;
  const tokens = createAccessTokens({
    accessToken: config.access_token,
    refreshToken: config.refresh_token,
    clientId: config.client_id,
    clientSecret: config.client_secret,
    tokenUrl: config.token_url ?? "",
    withoutToken: "Set password in [channels_config.email], or a token.",
    fetch,
    clock,
  });
  if (!tokens.areThere) return { use: (work) => work({ user, password }) };
  const current = (signal: AbortSignal): Promise<string> => tokens.current(signal).catch(asUnreachable);
  return {
    async use(work, signal) {
      const token = await current(signal);
      try {
        return await work({ user, token });
      } catch (error) {
        const isRefused = error instanceof SvcError && error.code === "CHANNEL_UNAUTHORIZED";
        if (!isRefused || !(await tokens.renew(token, signal).catch(asUnreachable))) throw error;
        return work({ user, token: await current(signal) });
      }
    },
  };
}

/** No message was refused here. */
function asUnreachable(error: unknown): never {
  if (!(error instanceof SvcError) || !error.code.startsWith("DELIVERY_")) throw error;
  const { message, retryAfterMs } = error;
  throw new SvcError("REMOTE_UNREACHABLE", message, {
    hint: "Check token_url of [channels_config.email].",
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** The two servers of the section: where they are, and how a connection to them is kept from others' eyes. */
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

/** What `work` comes to. Throws the signal's reason, or REMOTE_TIMEOUT when it takes longer; the work itself goes on. */
export const within = <T>(clock: Clock, timeoutMs: number, signal: AbortSignal, work: Promise<T>): Promise<T> =>
  withTimeout({ clock, timeoutMs, signal, error: tooLate }, () => work);

const tooLate = (): SvcError => new SvcError("REMOTE_TIMEOUT", "The mail server did not answer in time.");
