/** A reload's new features, made and registered beside those that run. All of them, or none. */
import { SvcError } from "@svc/contract";
import type { Registry } from "../registry/registry.ts";
import type { EnabledFeature } from "./construct.ts";
import type { FeatureLife } from "./feature-life.ts";

export interface LifecycleChange {
  /** The registry as it will be. */
  readonly registry: Registry;
  /** Ids of the features that are made anew. */
  readonly features: readonly string[];
  /** Ends what was made; what runs goes on. */
  abandon(): Promise<void>;
  /**
   * Swaps: old loops are told to stop, new ones start when they have. Call the result when no call uses an old feature
   * any more: it shuts them down.
   */
  commit(): () => Promise<void>;
}

export interface Preparation {
  readonly current: readonly FeatureLife[];
  readonly enabled: readonly EnabledFeature[];
  readonly isChanged: (feature: EnabledFeature) => boolean;
  readonly make: (feature: EnabledFeature) => FeatureLife;
  /** Throws FEATURE_CONFLICT. */
  readonly check: (lives: readonly FeatureLife[]) => void;
  readonly signal: AbortSignal;
}

export interface PreparedLives {
  /** In the order of `enabled`. */
  readonly lives: readonly FeatureLife[];
  readonly fresh: readonly FeatureLife[];
  abandon(): Promise<void>;
}

export async function prepareLives(preparation: Preparation): Promise<PreparedLives> {
  const { current, enabled, make, check, signal } = preparation;
  const isChanged = await changes(preparation);
  const fresh: FeatureLife[] = [];
  const mustWork: FeatureLife[] = [];
  const mustBeProved: FeatureLife[] = [];
  const lives = enabled.map((feature) => {
    const old = current.find((life) => life.definition === feature.definition);
    if (old && old.health.state !== "failed" && !isChanged(feature)) return old;
    const life = make(feature);
    if (old) life.health.succeed(old.health.snapshot());
    fresh.push(life);
    if (!old || isChanged(feature)) mustWork.push(life);
    // One that does not work must not be in the way of what has nothing to do with it.
    if (!old || (isChanged(feature) && old.health.state === "running")) mustBeProved.push(life);
    return life;
  });
  const abandon = async (): Promise<void> => {
    for (const life of fresh.toReversed()) await life.end();
  };
  try {
    const creates = await Promise.all(fresh.map((life) => life.load(signal)));
    signal.throwIfAborted();
    for (const create of creates) create();
    refuseFailed(mustWork);
    check(lives);
    await Promise.all(fresh.map((life) => life.register(signal)));
    signal.throwIfAborted();
    refuseFailed(mustWork);
    await Promise.all(mustBeProved.map((life) => life.prove(signal)));
    signal.throwIfAborted();
    refuseFailed(mustBeProved);
  } catch (error) {
    await abandon();
    throw error;
  }
  return { lives, fresh, abandon };
}

/** Those whose config is another one, and those that are made of files that are not what they were. */
async function changes({ current, enabled, isChanged, signal }: Preparation): Promise<Preparation["isChanged"]> {
  const changed = new Set(enabled.filter(isChanged));
  await Promise.all(
    enabled.map(async (feature) => {
      const old = current.find((life) => life.definition === feature.definition);
      if (old && !changed.has(feature) && !(await old.isAsSurveyed(signal))) changed.add(feature);
    }),
  );
  signal.throwIfAborted();
  return (feature) => changed.has(feature);
}

function refuseFailed(lives: readonly FeatureLife[]): void {
  const failed = lives.filter(({ health }) => health.state === "failed");
  if (failed.length === 0) return;
  const reasons = failed.map(
    ({ definition, health }) => `${definition.id}: ${health.snapshot().reason ?? "no reason"}`,
  );
  throw new SvcError("FEATURE_FAILED", `A changed feature does not start with its new config: ${reasons.join("; ")}`, {
    hint: "The old config stays in force. Mend the section and reload again.",
  });
}
