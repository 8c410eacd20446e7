/** Whether gateway.public_url leads to this daemon, and whether the proxy in between says who is calling. */
import { error, type Finding, ok, warning } from "../finding.ts";
import type { Check } from "./machine.ts";
import { askAgain, type DaemonStatus } from "./daemon-state.ts";

const FIX = "check the name in the DNS, the certificate, and what the reverse proxy passes on";

export const publicUrl: Check = {
  id: "public-url-leads-here",
  async find(machine, signal) {
    const { status } = await machine.daemon();
    const base = status?.public_url;
    if (!status || !base) return [];
    const answer = await probe(below(base, "health"), signal);
    return [reachFinding(answer, status)];
  },
};

function reachFinding({ status: code, instance, failure }: Answer, status: DaemonStatus): Finding {
  const id = "public-url-leads-here";
  if (failure !== undefined) return warning(id, `gateway.public_url can't be reached from here (${failure}).`, FIX);
  if (instance === status.instance) return ok(id, "gateway.public_url leads to this daemon.");
  return instance === undefined
    ? warning(id, `gateway.public_url does not lead to this daemon: /health is answered ${code}.`, FIX)
    : warning(id, "gateway.public_url leads to another daemon, or to an earlier start of this one.", FIX);
}

/**
 * A proxy that adds no header makes the whole world look local. It can be seen only while the headers are not trusted: the
 * daemon then notes that some came.
 */
export const proxyHeaders: Check = {
  id: "proxy-headers",
  security: true,
  async find(machine, signal) {
    const { status, report } = await machine.daemon();
    const { config } = await machine.config();
    const base = status?.public_url;
    if (!status || !report || !base || config?.core.gateway.trust_forwarded_headers !== false) return [];
    const { instance } = await probe(below(base, "health"), signal);
    if (instance !== status.instance) return [];
    // Answered 401; what counts is that the daemon looked at the headers.
    await probe(below(base, "api/status"), signal);
    if (await askAgain(machine.home, signal)) return [];
    const message = "The proxy behind gateway.public_url adds no forwarding header: its callers look like local ones.";
    const fix = "let the proxy set X-Forwarded-For, and set gateway.trust_forwarded_headers = true";
    return [warning("proxy-headers", message, fix)];
  },
};

/**
 * What is for programs on this machine must be refused to those who come by the proxy, whether its headers are trusted or
 * not. The request has no body and no content type: where it is let in, nothing comes of it.
 */
export const localPaths: Check = {
  id: "local-paths",
  async find(machine, signal) {
    const { status } = await machine.daemon();
    const base = status?.public_url;
    // Nothing is in between where it is the daemon's own address.
    if (!status || !base || new URL(base).host === new URL(status.url).host) return [];
    const { instance } = await probe(below(base, "health"), signal);
    if (instance !== status.instance) return [];
    const answer = await probe(below(base, "api/channel-events"), signal, "POST");
    if (answer.status === undefined) return [];
    if (answer.status !== LET_IN) return [ok("local-paths", "What is for this machine is refused to others.")];
    const message =
      "Who calls gateway.public_url may post to /api/channel-events, which is for programs on this machine.";
    const fix = "let the proxy set X-Forwarded-For, or keep that path out";
    return [error("local-paths", message, fix)];
  },
};

/** The content type, which is looked at after the caller. */
const LET_IN = 415;

const below = (base: string, path: string): URL => new URL(path, base.endsWith("/") ? base : `${base}/`);

/** One request, to see who answers. Not the guarded client: both addresses are the operator's own, and the local one is private. */
interface Answer {
  readonly status?: number;
  /** The `instance` of a daemon's /health. */
  readonly instance?: string;
  /** Why there was no answer: the code of the error. */
  readonly failure?: string;
}

const MOST_BYTES = 64 * 1024;

/** Never rejects. Follows no redirect: where that leads is not the address that was asked about. */
export async function probe(url: URL, signal: AbortSignal, method: "GET" | "POST" = "GET"): Promise<Answer> {
  try {
    const headers = { accept: "application/json" };
    const response = await fetch(url, { method, redirect: "manual", signal, headers });
    return { status: response.status, ...instanceIn(await beginning(response)) };
  } catch (error) {
    return { failure: signal.aborted ? "no answer in time" : codeOf(error) };
  }
}

async function beginning(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) break;
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

function instanceIn(text: string): Pick<Answer, "instance"> {
  try {
    const { instance } = JSON.parse(text) as { instance?: unknown };
    return typeof instance === "string" ? { instance } : {};
  } catch {
    return {};
  }
}

/** `ECONNREFUSED`, `CERT_HAS_EXPIRED`: the code is fetch's cause's. */
function codeOf(error: unknown): string {
  const { cause, code } = error as { cause?: { code?: unknown }; code?: unknown };
  const found = cause?.code ?? code;
  return typeof found === "string" ? found : "unknown";
}
