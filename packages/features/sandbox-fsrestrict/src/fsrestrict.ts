import type { Contributions, FeatureContext } from "@svc/contract";
import { createBackend } from "./backend.ts";
import { createStarter, type Starter } from "./starter.ts";

export function create({ child, clock }: FeatureContext<unknown>): Contributions {
  const starter = lazily(() => createStarter({ command: child("sandbox-exec"), clock }));
  return {
    sandbox: createBackend({ starter, clock }),
    shutdown: async () => starter.shutdown(),
  };
}

/** Nothing is made before a command is. */
function lazily(make: () => Starter): Starter {
  let made: Starter | undefined;
  return {
    start: (what) => (made ??= make()).start(what),
    take: async (key) => made?.take(key),
    shutdown: async () => made?.shutdown(),
  };
}
