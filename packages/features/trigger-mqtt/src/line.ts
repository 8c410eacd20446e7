/** The way to the broker: an address that may be connected to, a TCP connection, and TLS over it. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { isPublicAddress, withTimeout } from "@svc/kit";
import { readFile } from "node:fs/promises";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { checkServerIdentity, connect as connectTls } from "node:tls";
import type { Config } from "./config.ts";

const CONNECT_MS = 30_000;

/**
 * Throws ADDRESS_REFUSED where user name, password and messages would go over the internet readable, CONFIG_INVALID for a `tls_ca` that
 * can't be read, REMOTE_*.
 */
export async function openSocket(
  { url, tls_ca: authorities }: Config,
  { resolve, clock }: Pick<FeatureContext, "resolve" | "clock">,
  signal: AbortSignal,
): Promise<Socket> {
  const { protocol, hostname, port: written } = new URL(url.replace(/^mqtt(s?):/i, "http$1:"));
  const isEncrypted = protocol === "https:";
  const port = Number(new URL(url).port || written) || (isEncrypted ? 8883 : 1883);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const ca = authorities === undefined ? undefined : await readAuthorities(authorities);
  const addresses = await resolve(`http${isEncrypted ? "s" : ""}://${hostname}:${port}`);
  signal.throwIfAborted();
  if (!isEncrypted && addresses.some(isPublicAddress)) {
    throw new SvcError("ADDRESS_REFUSED", "Messages and the password would go to a public address unencrypted.", {
      hint: "Use an mqtts:// url in [mqtt].",
    });
  }
  const [address = host] = addresses;
  const socket = isEncrypted
    ? connectTls({
        host: address,
        port,
        ...(isIP(host) === 0 && { servername: host }),
        ...(ca !== undefined && { ca }),
        minVersion: "TLSv1.2",
        checkServerIdentity: (_address, certificate) => checkServerIdentity(host, certificate),
      })
    : connectTcp({ host: address, port });
  return connected(socket, isEncrypted ? "secureConnect" : "connect", clock, signal);
}

async function connected(
  socket: Socket,
  event: "connect" | "secureConnect",
  clock: FeatureContext["clock"],
  signal: AbortSignal,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const tooLate = (): SvcError => new SvcError("REMOTE_TIMEOUT", "The broker did not take the connection in time.");
  const fail = (error: Error): void => reject(socketFailure(error));
  const end = (): void => reject(new SvcError("REMOTE_UNREACHABLE", "The broker ended the connection."));
  socket.once(event, resolve).once("error", fail).once("close", end);
  try {
    await withTimeout({ clock, timeoutMs: CONNECT_MS, signal, error: tooLate }, () => promise);
    return socket;
  } catch (error) {
    socket.on("error", () => undefined).destroy();
    throw error;
  } finally {
    socket.off(event, resolve).off("error", fail).off("close", end);
  }
}

/** Never with a word of the broker's. */
export function socketFailure(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  const { code = "" } = (error ?? {}) as { code?: unknown };
  const known = typeof code === "string" && /^[A-Z][A-Z_]{2,60}$/.test(code) ? code : "";
  if (/CERT|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(known)) {
    return new SvcError("REMOTE_UNREACHABLE", `The broker's certificate is not trusted (${known}).`, {
      hint: "Set tls_ca in [mqtt] to the PEM file of the authority that signed it, and url to the name in it.",
    });
  }
  const why = known === "" ? "" : ` (${known})`;
  return new SvcError(
    known === "ETIMEDOUT" ? "REMOTE_TIMEOUT" : "REMOTE_UNREACHABLE",
    `The broker can't be reached, or broke off${why}.`,
  );
}

async function readAuthorities(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => "");
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new SvcError("CONFIG_INVALID", "The file of mqtt.tls_ca can't be read, or holds no certificate.", {
    hint: "It is a PEM file that the service's user may read.",
  });
}
