/** One constructed feature, in this process, with fakes around it. */
import { SvcError, type Contributions, type FeatureDefinition } from "@svc/contract";
import * as v from "valibot";
import { captureLogger, type CapturedLogger } from "../capture-logger.ts";
import { fakeClock, type FakeClock } from "../fake-clock.ts";
import { memorySecrets } from "../memory-secrets.ts";

export interface Instance {
  readonly made: Contributions;
  readonly log: CapturedLogger;
  readonly clock: FakeClock;
}

export async function instanceOf(definition: FeatureDefinition, example: unknown): Promise<Instance> {
  const module = await definition.load();
  const log = captureLogger();
  const clock = fakeClock();
  const config: unknown = definition.config === undefined ? undefined : v.parse(definition.config, example);
  const fetch = () => Promise.reject(new SvcError("ADDRESS_REFUSED", "A conformance suite sends nothing."));
  return { made: module.create(Object.freeze({ config, log, clock, fetch, secrets: memorySecrets() })), log, clock };
}
