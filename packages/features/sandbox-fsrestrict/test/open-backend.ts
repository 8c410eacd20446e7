import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Confinement, SandboxBackend } from "@svc/contract";
import { fakeClock, type FakeClock } from "@svc/testkit/fake-clock";
import { createFsrestrict } from "../src/fsrestrict.ts";
import { childCommand } from "./child-command.ts";

export interface OpenedBackend extends AsyncDisposable {
  readonly backend: SandboxBackend;
  shutdown(): Promise<void>;
  readonly clock: FakeClock;
  readonly confinement: Confinement;
  /** Something is mounted, as far as the backend sees: what other programs of this machine mount it does not. */
  mount(): void;
  /** Beside the workspace. */
  readonly root: string;
}

/** The backend on the sources' child, with a workspace; commands run as the tests do. */
export function openBackend(command: readonly [string, ...string[]] = childCommand): OpenedBackend {
  const clock = fakeClock();
  let mounted = 0;
  const { backend, shutdown } = createFsrestrict({ command: () => command, clock, mounts: () => `${mounted}` });
  const root = realpathSync(mkdtempSync("/var/tmp/svc-fsrestrict-"));
  const workspace = realpathSync(mkdtempSync(join(root, "workspace-")));
  return {
    backend,
    shutdown,
    clock,
    mount: () => void (mounted += 1),
    root,
    confinement: { workspace, network: false, readable: [], writable: [], hidden: [], limits: {} },
    [Symbol.asyncDispose]: async () => {
      await shutdown();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
