/** Whether listening on `gateway.host` would let other machines in. Checked before the socket exists. */
import { SvcError } from "@svc/contract";
import { isLoopback } from "./peer.ts";

/**
 * Anything but a loopback address or the name `localhost`. A blank host makes Node listen everywhere, and a name can
 * resolve to anything, so both are public.
 */
export const isPublicBind = (host: string): boolean => host.toLowerCase() !== "localhost" && !isLoopback(host);

/** `http://host:port` by which this machine reaches a gateway that listens on `host`: the unspecified address is none. */
export function localUrl(host: string, port: number): string {
  const isAny = host === "0.0.0.0" || host === "::" || host.trim() === "";
  return `http://${isAny ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host}:${port}`;
}

export interface BindOptions {
  readonly host: string;
  readonly allow_public_bind: boolean;
  readonly require_pairing: boolean;
}

/** Throws PUBLIC_BIND. Without pairing a public address is always refused. */
export function checkBind(options: BindOptions): void {
  if (!isPublicBind(options.host)) return;
  if (!options.require_pairing) {
    throw new SvcError("PUBLIC_BIND", "gateway.require_pairing = false is only for a gateway bound to loopback.", {
      hint: 'Set gateway.host = "127.0.0.1", or gateway.require_pairing = true.',
    });
  }
  if (!options.allow_public_bind) {
    throw new SvcError("PUBLIC_BIND", undefined, {
      hint: 'Set gateway.host = "127.0.0.1" and put a reverse proxy in front, or gateway.allow_public_bind = true.',
    });
  }
}

/**
 * The same for settings that come while a socket is bound to `boundHost`, which stays as it is until a restart. Throws
 * PUBLIC_BIND.
 */
export function checkRebind(options: BindOptions, boundHost: string): void {
  checkBind(options);
  if (options.require_pairing || !isPublicBind(boundHost)) return;
  throw new SvcError(
    "PUBLIC_BIND",
    "gateway.require_pairing = false can't be in force yet: the gateway still listens on a public address.",
    { hint: "gateway.host changes with a restart: svc restart" },
  );
}
