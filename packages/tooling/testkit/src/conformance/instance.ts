/** One constructed feature, in this process, with fakes around it. */
import type { Contributions, FeatureContext, FeatureDefinition } from "@svc/contract";
import * as v from "valibot";
import type { CapturedLogger } from "../capture-logger.ts";
import type { FakeClock } from "../fake-clock.ts";
import { fakeFeatureContext } from "../feature-context.ts";
import type { FeatureSubject } from "./feature-conformance.ts";

export interface Instance {
  readonly made: Contributions;
  readonly log: CapturedLogger;
  readonly clock: FakeClock;
}

/** `fetch`: what answers its requests. Default: nobody. */
export async function instanceOf(
  definition: FeatureDefinition,
  example: unknown,
  { fetch }: Pick<FeatureSubject, "fetch"> = {},
): Promise<Instance> {
  const module = await definition.load();
  const own = definition.config;
  const config: unknown = own ? v.parse(own, example) : definition.when && example;
  const context = fakeFeatureContext(config, fetch && { fetch: answeredBy(fetch) });
  return { made: module.create(context), log: context.log, clock: context.clock };
}

const answeredBy =
  (answer: NonNullable<FeatureSubject["fetch"]>): FeatureContext["fetch"] =>
  async (url, options = {}) => {
    options.signal?.throwIfAborted();
    return { status: 200, headers: {}, bytes: new Uint8Array(), truncated: false, url, ...answer(url, options) };
  };
