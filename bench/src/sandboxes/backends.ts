/** The sandboxes that there are, made as the service makes them. */
import type { Clock, FeatureDefinition, SandboxBackend } from "@svc/contract";
import container from "@svc/sandbox-container";
import fsrestrict from "@svc/sandbox-fsrestrict";
import jail from "@svc/sandbox-jail";
import userns from "@svc/sandbox-userns";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { fakeFeatureContext } from "@svc/testkit/feature-context";

export interface MadeBackend {
  readonly backend: SandboxBackend;
  shutdown(): Promise<void>;
}

export const SANDBOXES: Readonly<Record<string, FeatureDefinition>> = { userns, fsrestrict, jail, container };

export async function makeBackend(
  id: string,
  definition: FeatureDefinition,
  home: string,
  image?: string,
): Promise<MadeBackend> {
  const { create } = await definition.load();
  const binary = fullestBinaryPath();
  const { sandbox, shutdown } = create(
    fakeFeatureContext({ enabled: true, backend: id, container_image: image }, {
      child: (name: string) => [binary, `__${name}`] as const,
      clock: systemClock(),
      homeFolder: home,
    } as never),
  );
  return { backend: sandbox!, shutdown: async () => shutdown?.() };
}

export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(delayMs, run) {
      const timer = setTimeout(run, delayMs).unref();
      return () => clearTimeout(timer);
    },
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}
