/** What tools are given to run commands: each call gets a session of its own, closed with everything that it started. */
import { type ExecRequest, type ExecResult, SvcError, type WorkResults } from "@svc/contract";
import { type Tracer, NO_TRACER, watched } from "@svc/runtime";
import { type SandboxChoice, noneBackend } from "./choose-sandbox.ts";
import { confinementOf, type ConfinementDeps, without } from "./confinement.ts";

export interface ExecOptions extends ConfinementDeps {
  /** A command waits for it. */
  readonly choice: Chosen | Promise<Chosen>;
  /** Why the sandbox can't run commands in this workspace; without a sandbox it doesn't matter. */
  readonly obstacle?: string | undefined;
  /** Records commands. Default: none are recorded. */
  readonly tracer?: Tracer;
}

type Chosen = Pick<SandboxChoice, "backend" | "unenforced">;

export function createExec(options: ExecOptions): (request: ExecRequest) => Promise<ExecResult> {
  const { tracer = NO_TRACER } = options;
  const run = async (request: ExecRequest, { backend, unenforced }: Chosen): Promise<ExecResult> => {
    if (options.obstacle !== undefined && backend !== noneBackend) throw unusable(options.obstacle);
    const session = await backend.open(without(confinementOf(options), unenforced));
    try {
      return await session.exec(request);
    } finally {
      await session.close();
    }
  };
  return async (request) => {
    const choice = await options.choice;
    return watched(
      tracer.begin("command", { backend: choice.backend.id }),
      () => run(request, choice),
      (_error, ended) => endOf(ended),
    );
  };
}

const unusable = (obstacle: string): SvcError =>
  new SvcError("SANDBOX_UNAVAILABLE", `Commands can't run in a sandbox here: ${obstacle}.`);

/** undefined: it did not come to an end of its own, or did not begin. */
function endOf(ended: ExecResult | undefined): WorkResults["command"] {
  if (!ended) return { outcome: "failed", exitCode: undefined };
  const exitCode = ended.exitCode ?? undefined;
  if (ended.timedOut) return { outcome: "timed-out", exitCode };
  return { outcome: ended.signal === null ? "exited" : "signalled", exitCode };
}
