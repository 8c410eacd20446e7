/** One constructed feature, in this process, with fakes around it. */
import type { Contributions, FeatureDefinition } from "@svc/contract";
import * as v from "valibot";
import type { CapturedLogger } from "../capture-logger.ts";
import type { FakeClock } from "../fake-clock.ts";
import { fakeFeatureContext } from "../feature-context.ts";

export interface Instance {
  readonly made: Contributions;
  readonly log: CapturedLogger;
  readonly clock: FakeClock;
}

export async function instanceOf(definition: FeatureDefinition, example: unknown): Promise<Instance> {
  const module = await definition.load();
  const own = definition.config;
  const config: unknown = own ? v.parse(own, example) : definition.when && example;
  const context = fakeFeatureContext(config);
  return { made: module.create(context), log: context.log, clock: context.clock };
}
