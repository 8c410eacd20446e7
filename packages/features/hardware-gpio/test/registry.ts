/** A registry on a clock of its own, with the boards of a section, and a place for aliases that outlives it. */
import type { StateStore } from "@svc/contract";
import { createGuardedResolve } from "@svc/kit";
import { scanUsb } from "@svc/kit/hardware";
import { type FakeClock, fakeClock } from "@svc/testkit/fake-clock";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import * as v from "valibot";
import { peripheralsConfig } from "../src/config.ts";
import { BoardRegistry, type RegistryDeps } from "../src/registry.ts";

export interface Given {
  readonly boards?: readonly object[];
  /** Of the file system in which devices are looked for; undefined: they are not. */
  readonly root?: string;
  readonly state?: StateStore;
  readonly clock?: FakeClock;
  readonly capabilities?: RegistryDeps["capabilities"];
}

export async function registryOf(given: Given = {}): Promise<BoardRegistry & AsyncDisposable> {
  const { boards = [], root, state = memorySecrets(), clock = fakeClock(), capabilities = () => [] } = given;
  const registry = new BoardRegistry({
    boards: v.parse(peripheralsConfig, { boards }).boards,
    scan: root === undefined ? undefined : () => scanUsb(root),
    clock,
    state,
    capabilities,
    resolve: createGuardedResolve({ allowPrivate: [], exempt: [] }),
  });
  await registry.scan();
  return Object.assign(registry, { [Symbol.asyncDispose]: () => registry.close() });
}
