/** What tools are given to run commands: each call gets a session of its own, closed with everything that it started. */
import type { ExecRequest, ExecResult, SandboxBackend, WorkResults } from "@svc/contract";
import { type CoreConfig, type Instruments, NO_INSTRUMENTS } from "@svc/kernel";
import { watched } from "../observe/watched.ts";

export interface ExecOptions {
  readonly backend: SandboxBackend;
  readonly config: CoreConfig["security.sandbox"];
  /** Absolute path; the working directory of commands. */
  readonly workspace: string;
  /** Paths that must not be visible inside, `$SVC_HOME` first. */
  readonly hidden: readonly string[];
  /** Told of commands. Default: nobody is. */
  readonly instruments?: Instruments;
}

export function createExec({
  backend,
  config,
  workspace,
  hidden,
  instruments = NO_INSTRUMENTS,
}: ExecOptions): (request: ExecRequest) => Promise<ExecResult> {
  const confinement = {
    workspace,
    network: config.network,
    readable: [],
    writable: [workspace],
    hidden,
    limits: { timeoutSecs: config.timeout_secs },
  };
  const run = async (request: ExecRequest): Promise<ExecResult> => {
    const session = await backend.open(confinement);
    try {
      return await session.exec(request);
    } finally {
      await session.close();
    }
  };
  return (request) =>
    watched(
      instruments.begin("command", { backend: backend.id }),
      () => run(request),
      (_error, ended) => endOf(ended),
    );
}

/** undefined: it did not come to an end of its own, or did not begin. */
function endOf(ended: ExecResult | undefined): WorkResults["command"] {
  if (!ended) return { outcome: "failed", exitCode: undefined };
  const exitCode = ended.exitCode ?? undefined;
  if (ended.timedOut) return { outcome: "timed-out", exitCode };
  return { outcome: ended.signal === null ? "exited" : "signalled", exitCode };
}
