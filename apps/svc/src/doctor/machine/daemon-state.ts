/** How the daemon of a home is: asked over its socket, for a second at most; and who holds the home when nobody answers. */
import type { DaemonReport } from "@svc/api/control";
import type { Home } from "@svc/config";
import { type Clock, SvcError } from "@svc/contract";
import { withDeadline } from "@svc/kit/async";
import { daemonAt } from "../../service/control.ts";
import { lockHolder } from "./lock-holder.ts";

export type DaemonPhase =
  /** It answers. */
  | "up"
  /** Nobody listens; the socket of a killed daemon counts for nothing. */
  | "stopped"
  /** It has the home and does not answer. */
  | "hung"
  /** It is another user's. */
  | "forbidden"
  /** Something answers, and not as a daemon of ours does. */
  | "strange";

export interface DaemonState {
  readonly phase: DaemonPhase;
  /** Only of one that is up. */
  readonly status?: DaemonStatus;
  /** Only of one that is up and knows this question. */
  readonly report?: DaemonReport;
  /** Process id of who has the home although nobody answers. */
  readonly holder?: number;
}

/** The part of the status report that is looked at here. */
export interface DaemonStatus {
  readonly status: string;
  readonly instance: string;
  readonly version: string;
  readonly commit: string;
  readonly pid: number;
  readonly url: string;
  readonly public_url: string | null;
  readonly config: string;
  readonly database?: { readonly writable: boolean };
  readonly messages?: { readonly locked?: number };
  readonly features: readonly { readonly id: string; readonly state: string; readonly reason: string | null }[];
}

/** As long as a check may take: a busy daemon on a small board is slow, and one called hung is about to be killed by hand. */
const ANSWER_MS = 2500;

/** Never rejects. */
export async function lookAtDaemon(home: Home, security: boolean, clock: Clock): Promise<DaemonState> {
  const call = daemonAt(home.controlSocket);
  const limit = { clock, timeoutMs: ANSWER_MS, error: () => new SvcError("REMOTE_TIMEOUT") };
  try {
    const [status, report] = await withDeadline(limit, (signal) =>
      Promise.all([
        call({ name: "status", signal }),
        call({ name: "doctor", body: { security }, signal }).catch(notKnown),
      ]),
    );
    return { phase: "up", status, ...(report !== undefined && { report }) };
  } catch (error) {
    return withHolder(phaseOf(error), home);
  }
}

/** Whether the daemon has seen forwarding headers by now. */
export async function askAgain(home: Home, signal: AbortSignal): Promise<boolean> {
  return (await daemonAt(home.controlSocket)({ name: "doctor", signal })).untrustedForwarding;
}

/** A daemon of another version; which one it is, its status says. */
function notKnown(error: unknown): undefined {
  if (error instanceof SvcError && (error.code === "NOT_FOUND" || error.code === "INTERNAL")) return undefined;
  throw error;
}

function phaseOf(error: unknown): DaemonPhase {
  const { code } = error as SvcError;
  if (code === "NOT_RUNNING") return "stopped";
  if (code === "REMOTE_TIMEOUT") return "hung";
  return code === "DAEMON_FORBIDDEN" ? "forbidden" : "strange";
}

async function withHolder(phase: DaemonPhase, home: Home): Promise<DaemonState> {
  const holder = phase === "stopped" || phase === "hung" ? await lockHolder(home.lock) : undefined;
  return holder === undefined ? { phase } : { phase, holder };
}
