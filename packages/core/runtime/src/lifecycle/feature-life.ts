/** One feature on its way through the phases. What it throws ends here: its own parts go, the others stay. */
import { type ClientId, SvcError, type FeatureDefinition, type Logger } from "@svc/contract";
import { type TimeoutOptions, keepingAlive, withTimeout } from "@svc/kit/async";
import { withFields } from "../log.ts";
import { redactPatterns } from "@svc/config";
import type { RegistryPart } from "../registry.ts";
import { inScope } from "../tracing.ts";
import { construct, type EnabledFeature, surveyOf } from "./construct.ts";
import type { LifecycleLimits, LifecycleOptions } from "./options.ts";
import { Health, reasonOf } from "./status.ts";
import { supervise } from "./supervise.ts";
import type { ConstructedFeature } from "./contributions.ts";

export class FeatureLife {
  readonly definition: FeatureDefinition;
  readonly health: Health;
  readonly #enabled: EnabledFeature;
  readonly #options: LifecycleOptions;
  readonly #limits: LifecycleLimits;
  readonly #log: Logger;
  readonly #redact: (text: string) => string;
  readonly #stop = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #feature: ConstructedFeature | undefined;
  /** What it was made of beside its config, as JSON. */
  #survey = "null";
  /** Set when its shutdown began; it is never called again. */
  #ended: Promise<void> | undefined;

  /** `onState`: its state is another one. */
  constructor(
    enabled: EnabledFeature,
    options: LifecycleOptions,
    limits: LifecycleLimits,
    onState: (life: FeatureLife) => void,
  ) {
    this.definition = enabled.definition;
    this.#enabled = enabled;
    this.#options = options;
    this.#limits = limits;
    this.health = new Health(enabled.definition.id, options.clock, () => onState(this));
    this.#log = withFields(options.log, { feature: enabled.definition.id });
    this.#redact = options.redact ?? redactPatterns;
  }

  /** What it contributes; undefined when it failed or was never made. */
  get part(): RegistryPart | undefined {
    return this.#feature?.part;
  }

  /** Imports its module. Never rejects; what went wrong comes out of `create`. */
  async load(signal: AbortSignal): Promise<() => void> {
    const { clock } = this.#options;
    const limit = this.#limit("import", this.#limits.registerMs, signal);
    try {
      const create = await withTimeout(limit, async (stop) => {
        const survey = await surveyOf(this.#enabled, this.#log, stop);
        this.#survey = JSON.stringify(survey);
        return construct(this.#enabled, { log: this.#log, clock, survey });
      });
      return () => this.#create(create);
    } catch (error) {
      return () => this.#disable("construction", error);
    }
  }

  /** Whether what it is made of beside its config is what it was. Never rejects: what can't be told is another. */
  async isAsSurveyed(signal: AbortSignal): Promise<boolean> {
    const limit = this.#limit("survey", this.#limits.registerMs, signal);
    try {
      const survey = await withTimeout(limit, (stop) => surveyOf(this.#enabled, this.#log, stop));
      return JSON.stringify(survey) === this.#survey;
    } catch {
      return false;
    }
  }

  /** Never rejects. When `signal` calls the start off, ending it is left to the one who ends them all in order. */
  async register(signal: AbortSignal): Promise<void> {
    if (this.#feature === undefined) return;
    const { register } = this.#feature;
    try {
      const limit = this.#limit("registration", this.#limits.registerMs, signal);
      await withTimeout(limit, register ?? (() => undefined));
      this.health.become("running");
    } catch (error) {
      if (signal.aborted) return;
      this.#disable("registration", error);
      await this.end();
      this.#feature = undefined;
    }
  }

  /**
   * Has its channel ask the platform whether it takes the credentials, where its loop would ask that first and give up. Only a
   * clear no counts, and it fails then: a platform that is away is back some day. Never rejects.
   */
  async prove(signal: AbortSignal): Promise<void> {
    const { part, run } = this.#feature ?? {};
    const check = run && part?.channels[0]?.[1].check;
    if (check === undefined) return;
    try {
      const limit = this.#limit("the check", this.#limits.registerMs, signal);
      await withTimeout(limit, check);
    } catch (error) {
      if (signal.aborted || !(error instanceof SvcError) || error.code !== "CHANNEL_UNAUTHORIZED") return;
      this.#disable("registration", error);
    }
  }

  /** Starts its loop, if it has one; once `after` has settled, where two loops of one feature must not meet. */
  start(after?: Promise<void>): void {
    const run = this.#feature?.run;
    if (run === undefined) return;
    const { clock, random } = this.#options;
    const { health } = this;
    const { signal } = this.#stop;
    const watch = { run, signal, health, delays: this.#limits, clock, random, log: this.#log, redact: this.#redact };
    // What it brings for weeks is not of the request that had it started anew.
    this.#loop = inScope({}, () => (after ? after.then(() => supervise(watch)) : supervise(watch)));
  }

  /** Tells the loop to end; resolves when it has, or when its time is up. Never rejects. */
  async stop(): Promise<void> {
    this.#stop.abort(new SvcError("DRAINING"));
    const limit = this.#limit("stopping the loop", this.#limits.shutdownMs);
    await withTimeout(limit, () => this.#loop).catch((error: unknown) =>
      this.#log.warn("The feature's loop did not stop.", { reason: reasonOf(error, this.#redact) }),
    );
  }

  /** Calls its shutdown, once in its life. Never rejects. */
  end(): Promise<void> {
    return (this.#ended ??= this.#end());
  }

  /** The client is gone for good, and its state with it. */
  forget(clientId: ClientId): void {
    this.#feature?.forget(clientId);
  }

  observerThrew(error: unknown): void {
    this.health.observerErrors += 1;
    // The first one tells enough: an observer that throws on every event must not flood the log.
    if (this.health.observerErrors > 1) return;
    this.#log.warn("The feature's observer threw.", { reason: reasonOf(error, this.#redact) });
  }

  /** `what`: the work, for the message: "registration". */
  #limit(what: string, timeoutMs: number, signal?: AbortSignal): TimeoutOptions {
    const error = (): Error => new Error(`${what} took longer than ${timeoutMs / 1000} s`);
    return { clock: keepingAlive(this.#options.clock), timeoutMs, signal, error };
  }

  #create(create: () => ConstructedFeature): void {
    try {
      this.#feature = create();
    } catch (error) {
      this.#disable("construction", error);
    }
  }

  #disable(phase: string, error: unknown): void {
    const reason = reasonOf(error, this.#redact);
    this.health.become("failed", reason);
    this.#log.error(`The feature failed in ${phase} and is disabled.`, { code: "FEATURE_FAILED", reason });
  }

  async #end(): Promise<void> {
    const shutdown = this.#feature?.shutdown;
    const limit = this.#limit("shutdown", this.#limits.shutdownMs);
    try {
      if (shutdown !== undefined) await withTimeout(limit, () => shutdown());
    } catch (error) {
      this.#log.warn("The feature did not shut down cleanly.", { reason: reasonOf(error, this.#redact) });
    }
    if (this.health.state !== "failed") this.health.become("stopped");
  }
}
