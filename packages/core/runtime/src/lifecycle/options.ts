/** What a lifecycle is made with. */
import type { Clock, FeatureDefinition, Logger } from "@svc/contract";
import type { GenericSchema } from "valibot";
import type { RegistryPart } from "../registry.ts";
import type { EnabledFeature } from "./construct.ts";
import type { ReservedNames } from "./problems.ts";
import type { FeatureStatus } from "./status.ts";
import type { RestartDelays } from "./supervise.ts";

export interface LifecycleOptions {
  /** Every feature of the build, on or off; they are checked against each other. */
  readonly definitions: readonly FeatureDefinition[];
  /** Those to run, in order of construction. */
  readonly enabled: readonly EnabledFeature[];
  /** Core's own parts; in the registry with the features'. */
  readonly core?: Partial<Omit<RegistryPart, "feature">>;
  /** Further names and paths that features must leave alone. */
  readonly reserved?: ReservedNames;
  /** Paths that may be served without a bearer, by feature: as their manifests list them. Default: none. */
  readonly openPaths?: ReadonlyMap<string, readonly string[]>;
  /** Default: the sections of core's own schema. */
  readonly coreSections?: Readonly<Record<string, GenericSchema>>;
  readonly log: Logger;
  readonly clock: Clock;
  /** 0 ≤ x < 1, for the jitter of restarts. Default: the kit's. */
  readonly random?: () => number;
  /** Takes secrets out of the reasons of failed features. Default: tokens and bearer credentials only. */
  readonly redact?: (text: string) => string;
  /**
   * Told each change of state of a feature, as it is now in force: what is made for a reload is told of once it takes the
   * place of the old one, and the end of the old one then tells nothing new. Must not throw.
   */
  readonly onState?: (status: FeatureStatus) => void;
  readonly limits?: Partial<LifecycleLimits>;
}

export interface LifecycleLimits extends RestartDelays {
  /** Longest import of a module, and longest registration, of one feature. */
  readonly registerMs: number;
  /** Longest wait for a feature's loop to end, and for its shutdown. */
  readonly shutdownMs: number;
}

export const LIFECYCLE_LIMITS: LifecycleLimits = Object.freeze({
  registerMs: 30_000,
  shutdownMs: 5_000,
  firstMs: 1_000,
  longestMs: 60_000,
  stableMs: 60_000,
});
