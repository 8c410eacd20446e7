/**
 * Construction → Registration → Execution → Shutdown, for all features of a process.
 *
 *   construct()   imports and creates every enabled feature, then checks all of them together, before any I/O
 *   register()    lets each validate itself once; who fails is rolled back alone; the registry is fixed for good
 *   execute()     starts and supervises the loops
 *   shutdown()    stops the loops, then every feature in reverse order of construction; once, from any phase
 *
 * Only a conflict stops the start (FEATURE_CONFLICT, with every problem in it). A feature that throws is disabled.
 *
 *   prepare()     a reload: features whose config changed are made anew beside the old ones; `commit` swaps them in
 */
import { type ClientId, type FindCapabilities, SvcError, type SvcEvent, findProvided } from "@svc/contract";
import { coreSections } from "@svc/config";
import { type RegisteredObserver, type Registry, type RegistryPart, buildRegistry } from "../registry.ts";
import { conflict, contributionProblems, definitionProblems } from "./problems.ts";
import type { EnabledFeature } from "./construct.ts";
import { FeatureLife } from "./feature-life.ts";
import { type Tracer, createTracer } from "../tracing.ts";
import { LIFECYCLE_LIMITS, type LifecycleLimits, type LifecycleOptions } from "./options.ts";
import type { FeatureState, FeatureStatus } from "./status.ts";

export class Lifecycle {
  /** Tells the observers in force of the spans of core. */
  readonly tracer: Tracer;
  readonly #options: LifecycleOptions;
  readonly #limits: LifecycleLimits;
  #lives: readonly FeatureLife[];
  #livesById: ReadonlyMap<string, FeatureLife>;
  /** Replaced by a reload, and perhaps still in use by a call. */
  readonly #retiring = new Set<FeatureLife>();
  readonly #stop = new AbortController();
  readonly #phases = new Phases(this.#stop.signal);
  #registry: Registry | undefined;
  #down: Promise<void> | undefined;

  constructor(options: LifecycleOptions) {
    this.#options = options;
    this.#limits = { ...LIFECYCLE_LIMITS, ...options.limits };
    this.#lives = options.enabled.map(this.#make);
    this.#livesById = byId(this.#lives);
    this.tracer = createTracer({
      clock: options.clock,
      observers: () => this.#registry?.observers ?? NO_OBSERVERS,
      threw: (feature, error) => this.#livesById.get(feature)?.observerThrew(error),
    });
  }

  /** Throws FEATURE_CONFLICT, listing every conflict; nothing has done I/O then. */
  construct(): Promise<void> {
    return this.#phases.during("new", "constructing", "constructed", async () => {
      // Modules are read side by side and created one after the other: the order of construction is the order given.
      const creates = await Promise.all(this.#lives.map((life) => life.load(this.#stop.signal)));
      this.#stop.signal.throwIfAborted();
      for (const create of creates) create();
      this.#checkConflicts(this.#lives);
    });
  }

  /**
   * All features at once, each within its time; resolves with the registry of those that came through. Rejects with the
   * signal's reason when it is aborted; the caller calls `shutdown` then, as after any start that was called off.
   */
  register(signal: AbortSignal): Promise<Registry> {
    return this.#phases.during("constructed", "registering", "registered", async () => {
      const either = AbortSignal.any([signal, this.#stop.signal]);
      await Promise.all(this.#lives.map((life) => life.register(either)));
      either.throwIfAborted();
      this.#registry = buildRegistry(this.#parts(this.#lives));
      return this.#registry;
    });
  }

  /** Starts the loops and returns. */
  execute(): void {
    this.#phases.enter("registered", "executing");
    for (const life of this.#lives) life.start();
  }

  /**
   * Makes and registers anew what `isChanged` or is newly enabled, and tries again what had failed. What runs is not
   * touched before `commit`. Throws FEATURE_CONFLICT, or FEATURE_FAILED naming a changed feature that refuses its new
   * config; nothing is left of the attempt then. One at a time.
   */
  async prepare(
    enabled: readonly EnabledFeature[],
    isChanged: (feature: EnabledFeature) => boolean,
    signal: AbortSignal,
  ): Promise<LifecycleChange> {
    const either = AbortSignal.any([signal, this.#stop.signal]);
    const make = this.#make;
    const check = (lives: readonly FeatureLife[]): void => this.#checkConflicts(lives);
    const next = await prepareLives({ current: this.#lives, enabled, isChanged, make, check, signal: either });
    return {
      registry: buildRegistry(this.#parts(next.lives)),
      features: next.fresh.map(({ definition }) => definition.id),
      abandon: next.abandon,
      commit: () => this.#commit(next.lives, next.fresh),
    };
  }

  #commit(lives: readonly FeatureLife[], fresh: readonly FeatureLife[]): () => Promise<void> {
    this.#stop.signal.throwIfAborted();
    const gone = this.#lives.filter((life) => !lives.includes(life));
    this.#lives = lives;
    this.#livesById = byId(lives);
    this.#registry = buildRegistry(this.#parts(lives));
    for (const life of fresh) this.#tellState(life);
    for (const life of gone) this.#retiring.add(life);
    const stopped = new Map(gone.map((life) => [life.definition.id, life.stop()]));
    if (this.#phases.now === "executing") for (const life of fresh) life.start(stopped.get(life.definition.id));
    return async () => {
      await Promise.all(stopped.values());
      for (const life of gone.toReversed()) await life.end();
      for (const life of gone) this.#retiring.delete(life);
    };
  }

  /** Never rejects. Every call waits for the same one shutdown. */
  shutdown(): Promise<void> {
    this.#down ??= this.#shutDown();
    return this.#down;
  }

  /** Throws before `register` has come through. */
  get registry(): Registry {
    if (this.#registry === undefined) throw new SvcError("INTERNAL", "The registry is not built yet.");
    return this.#registry;
  }

  /** Every enabled feature, in order of construction. */
  features(): FeatureStatus[] {
    return this.#lives.map((life) => life.health.snapshot());
  }

  /** Of one of them; undefined: it is not enabled. Asked for every delivery of a channel. */
  stateOf(feature: string): FeatureState | undefined {
    return this.#livesById.get(feature)?.health.state;
  }

  /** Whether a feature that should be in service is not. */
  degraded(): boolean {
    return this.#lives.some(({ health }) => health.state === "failed" || health.state === "waiting");
  }

  /** The client is gone for good: what features hold of it is forgotten, also by those that a reload replaced. */
  forget(clientId: ClientId): void {
    for (const life of [...this.#retiring, ...this.#lives]) life.forget(clientId);
  }

  /** Tells every observer. One that throws is counted and the others are told all the same. */
  publish(event: SvcEvent): void {
    if (this.#registry === undefined) return;
    tellObservers(this.#registry.observers, event, (feature, error) =>
      this.#livesById.get(feature)?.observerThrew(error),
    );
  }

  readonly #make = (feature: EnabledFeature): FeatureLife =>
    new FeatureLife({ ...feature, capabilities: this.#capabilities }, this.#options, this.#limits, (life) =>
      this.#tellState(life),
    );

  /** Of features in force that did not fail; one that is made for a reload counts from its commit on. */
  readonly #capabilities: FindCapabilities = (capability) =>
    findProvided(
      this.#lives.flatMap(({ part, health }) => (health.state === "failed" ? [] : (part?.provides ?? []))),
      capability,
    );

  #tellState(life: FeatureLife): void {
    const inForce = this.#livesById.get(life.definition.id);
    const isGone = inForce === undefined && this.#retiring.has(life);
    if (inForce === life || isGone) this.#options.onState?.(life.health.snapshot());
  }

  async #shutDown(): Promise<void> {
    this.#phases.end();
    this.#stop.abort(new SvcError("DRAINING"));
    const all = [...this.#retiring, ...this.#lives];
    await Promise.all(all.map((life) => life.stop()));
    for (const life of all.toReversed()) await life.end();
  }

  #checkConflicts(lives: readonly FeatureLife[]): void {
    const { definitions, reserved = {}, openPaths = NONE_OPEN, coreSections: sections = coreSections } = this.#options;
    const contributed = contributionProblems(this.#parts(lives), reserved, openPaths);
    const problems = [...definitionProblems(definitions, sections), ...contributed];
    if (problems.length > 0) throw conflict(problems);
  }

  #parts(lives: readonly FeatureLife[]): RegistryPart[] {
    const none = { tools: [], readers: [], sandboxes: [], channels: [], ingress: [], observers: [], routes: [] };
    const core: RegistryPart = { ...none, ...this.#options.core, feature: "core" };
    return [core, ...lives.flatMap((life) => life.part ?? [])];
  }
}

const NONE_OPEN: ReadonlyMap<string, readonly string[]> = new Map();

const byId = (lives: readonly FeatureLife[]): ReadonlyMap<string, FeatureLife> =>
  new Map(lives.map((life) => [life.definition.id, life]));

const NO_OBSERVERS: Registry["observers"] = [];

/** Tells observers what happens; none of them can disturb the others or the one who tells. */
function tellObservers(
  observers: readonly RegisteredObserver[],
  event: SvcEvent,
  threw: (feature: string, error: unknown) => void,
): void {
  for (const { feature, observer } of observers) {
    try {
      const result: unknown = observer.record(event);
      // An observer that is async against its contract must not end the process by a rejection.
      if (result instanceof Promise) result.catch((error: unknown) => threw(feature, error));
    } catch (error) {
      threw(feature, error);
    }
  }
}

/** The order of a lifecycle's phases: none twice, none left out, none after the shutdown. */
type Phase = "new" | "constructing" | "constructed" | "registering" | "registered" | "executing" | "shut-down";

class Phases {
  readonly #stopped: AbortSignal;
  #now: Phase = "new";

  /** `stopped`: aborted when the shutdown begins; everything after it throws its reason. */
  constructor(stopped: AbortSignal) {
    this.#stopped = stopped;
  }

  get now(): Phase {
    return this.#now;
  }

  /** Throws INTERNAL when it is another one's turn. */
  enter(from: Phase, to: Phase): void {
    this.#stopped.throwIfAborted();
    if (this.#now !== from) throw new SvcError("INTERNAL", `The lifecycle is ${this.#now}, not ${from}.`);
    this.#now = to;
  }

  async during<T>(from: Phase, during: Phase, to: Phase, work: () => Promise<T>): Promise<T> {
    this.enter(from, during);
    const result = await work();
    // A shutdown meanwhile has ended, or is ending, everything: the phase must not come after it.
    this.#stopped.throwIfAborted();
    this.#now = to;
    return result;
  }

  end(): void {
    this.#now = "shut-down";
  }
}

/** A reload's new features, made and registered beside those that run. All of them, or none. */
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

interface Preparation {
  readonly current: readonly FeatureLife[];
  readonly enabled: readonly EnabledFeature[];
  readonly isChanged: (feature: EnabledFeature) => boolean;
  readonly make: (feature: EnabledFeature) => FeatureLife;
  /** Throws FEATURE_CONFLICT. */
  readonly check: (lives: readonly FeatureLife[]) => void;
  readonly signal: AbortSignal;
}

interface PreparedLives {
  /** In the order of `enabled`. */
  readonly lives: readonly FeatureLife[];
  readonly fresh: readonly FeatureLife[];
  abandon(): Promise<void>;
}

async function prepareLives(preparation: Preparation): Promise<PreparedLives> {
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
