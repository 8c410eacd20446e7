/** A session in a world: in the sandbox that is tested, or in none, where every attack has to get through. */
import { spawn } from "node:child_process";
import type { Confinement, ExecRequest, ExecResult, SandboxBackend, SandboxSession } from "@svc/contract";
import { confinedSession } from "@svc/kit/process";
import * as v from "valibot";
import { demand, outcomeOf, errorText } from "../../check.ts";
import type { FakeClock } from "../../fake-clock.ts";
import { fakeFeatureContext } from "../../feature-context.ts";
import { perl } from "./perl.ts";
import type { SandboxBench, Who } from "./subject.ts";
import { makeWorld, type World } from "./world.ts";

export interface Opened extends AsyncDisposable {
  readonly world: World;
  readonly session: SandboxSession;
  /** What the feature was handed: its time-outs come when this moves. */
  readonly clock: FakeClock;
  exec(request: ExecRequest): Promise<ExecResult>;
  /** Runs Perl; it is an error when it did not begin. */
  perl(script: string, args?: readonly string[], more?: Partial<ExecRequest>): Promise<ExecResult>;
}

/** What takes longer hangs. */
const LONGEST_MS = 120_000;

export async function openIn(
  bench: SandboxBench,
  how: "confined" | "unconfined",
  asked: Partial<Confinement> = {},
): Promise<Opened> {
  const world = makeWorld(bench.who, asked);
  try {
    const { backend, clock, shutdown } = how === "confined" ? await backendOf(bench) : unconfined(bench.who);
    const session = await backend.open(world.confinement);
    return opened(world, session, clock, shutdown);
  } catch (error) {
    world[Symbol.dispose]();
    throw error;
  }
}

export interface MadeBackend {
  readonly backend: SandboxBackend;
  readonly clock: FakeClock;
  shutdown(): Promise<void>;
}

export async function backendOf({ definition, subject }: SandboxBench): Promise<MadeBackend> {
  const module = await definition.load();
  const id = definition.id.replace(/^sandbox-/, "");
  const section = { enabled: true, backend: id, ...subject.config };
  const config: unknown = definition.config ? v.parse(definition.config, section) : section;
  const context = fakeFeatureContext(config, subject.context?.());
  const made = module.create(context);
  demand(made.sandbox !== undefined, "the feature contributes no sandbox");
  await made.register?.(new AbortController().signal);
  return { backend: made.sandbox, clock: context.clock, shutdown: async () => made.shutdown?.() };
}

function opened(world: World, session: SandboxSession, clock: FakeClock, shutdown: () => Promise<void>): Opened {
  const exec = async (request: ExecRequest): Promise<ExecResult> => {
    const outcome = await outcomeOf(() => session.exec(request), LONGEST_MS);
    if (outcome.kind === "hung") throw new Error("the command does not come to an end");
    if (outcome.kind === "rejected") throw outcome.error;
    return outcome.value;
  };
  return {
    world,
    session,
    clock,
    exec,
    async perl(script, args = [], more = {}) {
      const result = await exec({ command: perl(world.workspace, script, args), ...more });
      demand(result.stdout.startsWith("began\n"), `the check's own program did not start: ${said(result)}`);
      return { ...result, stdout: result.stdout.slice("began\n".length) };
    },
    async [Symbol.asyncDispose]() {
      const closed = await outcomeOf(() => session.close());
      await shutdown();
      world[Symbol.dispose]();
      if (closed.kind === "hung") throw new Error("close() does not come to an end");
      if (closed.kind === "rejected") throw new Error(`close() throws: ${errorText(closed.error)}`);
    },
  };
}

/** For messages. */
export const said = (result: ExecResult): string =>
  JSON.stringify({ ...result, stdout: result.stdout.slice(0, 500), stderr: result.stderr.slice(0, 500) });

/** What the attacks are tried in first. It confines nothing but changes the user, as a sandbox does. */
function unconfined({ user }: Who): MadeBackend {
  const { clock } = fakeFeatureContext({});
  const backend: SandboxBackend = {
    id: "unconfined",
    probe: async () => ({ available: true, unenforced: ["memoryMb", "cpuSecs", "pids"] }),
    open: async (confinement) =>
      confinedSession(
        confinement,
        {
          start: ({ words: [file, ...args], folder, env, hasInput }) =>
            spawn(file, args, {
              cwd: folder,
              env,
              stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe"],
              detached: true,
              ...user,
            }),
        },
        { clock },
      ),
  };
  return { backend, clock, shutdown: async () => {} };
}
