/** The Construction phase of one feature: import its module, call `create`, take down what it contributes. */
import { type Contributions, type FeatureContext, type FeatureDefinition, type Json, SvcError } from "@svc/contract";
import { FeatureStates } from "../shared-state.ts";
import { type ConstructedFeature, readContributions } from "./contributions.ts";

/** A feature that its configuration turned on, and what it is handed. */
export interface EnabledFeature {
  readonly definition: FeatureDefinition;
  /** The validated section; `undefined` for a feature without one. */
  readonly config: unknown;
  /** Sections of the feature's other parts that are on. Default: there are none. */
  readonly siblings?: FeatureContext["siblings"];
  /** Default: nowhere. */
  readonly homeFolder?: string;
  /** How its own processes are started. Default: they are not. */
  readonly child?: FeatureContext["child"];
  /** Its outgoing client. Default: one that refuses every request. */
  readonly fetch?: FeatureContext["fetch"];
  /** Where names lead to. Default: nowhere. */
  readonly resolve?: FeatureContext["resolve"];
  /** Default: nobody knows. */
  readonly build?: FeatureContext["build"];
  /** Default: there is none. */
  readonly publicUrl?: string | undefined;
  /** Default: there is none. */
  readonly speech?: FeatureContext["speech"];
  /** How the service stands. Default: nobody knows. */
  readonly readings?: FeatureContext["readings"];
  /** Default: nobody is. */
  readonly pairedClient?: FeatureContext["pairedClient"];
  /** Its encrypted store. Default: one that is not there. */
  readonly secrets?: FeatureContext["secrets"];
  /** That of one client. Default: one that is not there. */
  readonly secretsOf?: FeatureContext["secretsOf"];
  /** What it keeps that is no secret. Default: one that is not there. */
  readonly state?: FeatureContext["state"];
  /** Where its messages go. Default: they are refused. */
  readonly receive?: FeatureContext["receive"];
  /** What starts procedures. Default: it is refused. */
  readonly trigger?: FeatureContext["trigger"];
  /** What other features provide. Default: nothing. */
  readonly capabilities?: FeatureContext["capabilities"];
  /** Default: told to nobody. */
  readonly publish?: FeatureContext["publish"];
  /** Adds a line to the audit log. Default: it is refused. */
  readonly audit?: FeatureContext["audit"];
  /** The agents of the config. Default: none can be reached. */
  readonly agents?: FeatureContext["agents"];
  /** Default: never made anew. */
  readonly refresh?: (() => void) | undefined;
}

/** What the feature is made of beside its section, as it is now. */
export async function surveyOf(
  { definition, config, siblings = NO_SIBLINGS, homeFolder = NOWHERE }: EnabledFeature,
  log: FeatureContext["log"],
  signal: AbortSignal,
): Promise<Json> {
  const { survey } = await definition.load();
  return (await survey?.({ config, siblings, log, homeFolder }, signal)) ?? null;
}

/** Throws whatever the feature throws, and TypeError where it keeps the contract in name only. */
export async function construct(
  feature: EnabledFeature,
  surroundings: Pick<FeatureContext, "log" | "clock" | "survey">,
): Promise<() => ConstructedFeature> {
  const {
    definition,
    config,
    siblings = NO_SIBLINGS,
    homeFolder = NOWHERE,
    child = noChild,
    fetch = refuse,
    resolve = refuse,
    build = NO_BUILD,
    publicUrl,
    speech = NO_SPEECH,
    readings = noReadings,
    pairedClient = () => undefined,
    secrets = NO_STORE,
    secretsOf = () => NO_STORE,
    state = NO_STORE,
    receive = refuseMessages,
    trigger = refuseEvents,
    capabilities = () => [],
    publish = () => {},
    audit = refuseAudit,
    agents = NO_AGENTS,
    refresh = () => {},
  } = feature;
  const module = await definition.load();
  return () => {
    const states = new FeatureStates();
    const { shared, perClient } = states;
    const made: unknown = module.create(
      Object.freeze({
        config,
        siblings,
        homeFolder,
        child,
        fetch,
        resolve,
        build,
        publicUrl,
        speech,
        readings,
        pairedClient,
        shared,
        perClient,
        secrets,
        secretsOf,
        state,
        receive,
        trigger,
        capabilities,
        publish,
        audit,
        agents,
        refresh,
        ...surroundings,
      }),
    );
    states.seal();
    if (isThenable(made)) {
      // Its rejection would otherwise end the process.
      void Promise.resolve(made).catch(() => undefined);
      throw new TypeError("create() must be synchronous");
    }
    if (typeof made !== "object" || made === null) throw new TypeError("create() must return its contributions");
    return readContributions(definition, made as Contributions, states);
  };
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";

const NO_SIBLINGS: FeatureContext["siblings"] = Object.freeze({});

/** A process without a home: a path that no file can have. */
const NOWHERE = "/dev/null";

const noChild: FeatureContext["child"] = () => {
  throw new TypeError("this process starts no others");
};

const refuse = (): Promise<never> =>
  Promise.reject(new SvcError("ADDRESS_REFUSED", "This process gives features no outgoing client."));

const NO_BUILD: FeatureContext["build"] = Object.freeze({
  version: "unknown",
  commit: "unknown",
  profile: "unknown",
  recipe: { profile: "minimal", with: [], without: [] },
});

const noSpeech = (): Promise<never> => Promise.reject(new SvcError("CHANNEL_CANNOT", "This process has no speech."));
const NO_SPEECH: FeatureContext["speech"] = Object.freeze({
  canTranscribe: false,
  canSpeak: false,
  plays: false,
  transcribe: noSpeech,
  speak: noSpeech,
});

const noReadings = (): never => {
  throw new SvcError("INTERNAL", "This process tells features no readings.");
};

const refuseMessages: FeatureContext["receive"] = () =>
  Promise.reject(new SvcError("CHANNEL_DOWN", "This process takes no messages."));

const refuseEvents: FeatureContext["trigger"] = () =>
  Promise.reject(new SvcError("CHANNEL_DOWN", "This process starts no procedures."));

const refuseAudit: FeatureContext["audit"] = () =>
  Promise.reject(new SvcError("STORE_FAILED", "This process has no audit log."));

const noAgents = (): never => {
  throw new SvcError("FEATURE_DOWN", "This process runs no child agents.");
};
const NO_AGENTS: FeatureContext["agents"] = Object.freeze({
  callerOf: noAgents,
  rightsOf: noAgents,
  operator: noAgents,
  lend: noAgents,
  onTurnEnd: noAgents,
});

const noStore = (): Promise<never> =>
  Promise.reject(new SvcError("STORE_FAILED", "This process keeps nothing for features."));
const NO_STORE: FeatureContext["secrets"] = { get: noStore, set: noStore, delete: noStore, list: noStore };
