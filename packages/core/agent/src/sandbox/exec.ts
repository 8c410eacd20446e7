/** What tools are given to run commands: each call gets a session of its own, closed with everything that it started. */
import type { ExecRequest, ExecResult, SandboxBackend } from "@svc/contract";
import type { CoreConfig } from "@svc/kernel";

export interface ExecOptions {
  readonly backend: SandboxBackend;
  readonly config: CoreConfig["security.sandbox"];
  /** Absolute path; the working directory of commands. */
  readonly workspace: string;
  /** Paths that must not be visible inside, `$SVC_HOME` first. */
  readonly hidden: readonly string[];
}

export function createExec({
  backend,
  config,
  workspace,
  hidden,
}: ExecOptions): (request: ExecRequest) => Promise<ExecResult> {
  const confinement = {
    workspace,
    network: config.network,
    readable: [],
    writable: [workspace],
    hidden,
    limits: { timeoutSecs: config.timeout_secs },
  };
  return async (request) => {
    const session = await backend.open(confinement);
    try {
      return await session.exec(request);
    } finally {
      await session.close();
    }
  };
}
