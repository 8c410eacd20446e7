import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Confinement, SandboxBackend } from "@svc/contract";
import { fakeClock, type FakeClock } from "@svc/testkit/fake-clock";
import { createBackend } from "../src/fsrestrict.ts";
import { createStarter, type Starter } from "../src/starter.ts";
import { childCommand } from "./child-command.ts";

export interface OpenedBackend extends AsyncDisposable {
  readonly backend: SandboxBackend;
  readonly starter: Starter;
  readonly clock: FakeClock;
  readonly confinement: Confinement;
  /** Beside the workspace. */
  readonly root: string;
}

/** The backend on the sources' child, with a workspace; commands run as the tests do. */
export function openBackend(command: readonly [string, ...string[]] = childCommand): OpenedBackend {
  const clock = fakeClock();
  const starter = createStarter({ command, clock });
  const root = realpathSync(mkdtempSync("/var/tmp/svc-fsrestrict-"));
  const workspace = realpathSync(mkdtempSync(join(root, "workspace-")));
  return {
    backend: createBackend({ starter, clock }),
    starter,
    clock,
    root,
    confinement: { workspace, network: false, readable: [], writable: [], hidden: [], limits: {} },
    [Symbol.asyncDispose]: async () => {
      await starter.shutdown();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
