/** The feature under test, and one construction of it in this process with fakes around it. */
import type { Contributions, FeatureContext, FeatureDefinition, FetchOptions, FetchResult } from "@svc/contract";
import * as v from "valibot";
import type { CapturedLogger } from "../capture-logger.ts";
import type { FakeClock } from "../fake-clock.ts";
import { fakeFeatureContext } from "../feature-context.ts";

export interface FeatureSubject {
  /** The package's folder; its last part is the feature's id. */
  readonly root: string;
  /**
   * A valid example of the section, as TOML gives it, defaults left out; of every part of a feature of several. Required when
   * the feature has a schema.
   */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The same by section, of a feature whose parts have sections of different keys. */
  readonly configs?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Module whose default export is the definition. Default: `src/index.ts` below `root`. */
  readonly entry?: string;
  /** What answers its requests while it registers and works. Default: 200 without a body. */
  readonly fetch?: (url: string, options: FetchOptions) => Partial<FetchResult>;
  /** An input of each of its tools, by name: needed of a feature that registers. */
  readonly inputs?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

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
