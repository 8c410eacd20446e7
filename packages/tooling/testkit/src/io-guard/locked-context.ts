/** What a feature is handed at construction, where it may touch nothing of it but its states, the log, and the clock's time. */
import type { FeatureContext, FeatureDefinition } from "@svc/contract";
import { FeatureStates } from "@svc/runtime";
import * as v from "valibot";

/** `violation`: records what was touched; the error to throw. */
export function lockedContext(
  definition: FeatureDefinition,
  example: unknown,
  violation: (what: string) => Error,
): FeatureContext {
  /** Recorded as a violation too, so that catching what it throws hides nothing. */
  const refused = (what: string) => (): never => {
    throw violation(`context.${what}`);
  };
  const locked = (what: string) => {
    const at = (name: string) => refused(`${what}.${name}`);
    return { get: at("get"), set: at("set"), delete: at("delete"), list: at("list") };
  };
  const own = definition.config;
  const states = new FeatureStates();
  return Object.freeze({
    config: own ? v.parse(own, example) : definition.when && structuredClone(example),
    siblings: {},
    homeFolder: "/nowhere",
    survey: null,
    // Telling how a process is started starts none.
    child: (name: string) => ["/nowhere/svc", `__${name}`] as const,
    log: silentLog(),
    // Telling the time is no I/O; starting a timer is.
    clock: { now: () => 0, monotonic: () => 0, sleep: refused("clock.sleep"), after: refused("clock.after") },
    build: { version: "1.2.3", commit: "0123abc", profile: "test", recipe: { profile: "home", with: [], without: [] } },
    publicUrl: undefined,
    speech: {
      canTranscribe: false,
      canSpeak: false,
      plays: false,
      transcribe: refused("speech.transcribe"),
      speak: refused("speech.speak"),
    },
    fetch: refused("fetch"),
    resolve: refused("resolve"),
    receive: refused("receive"),
    trigger: refused("trigger"),
    readings: refused("readings"),
    capabilities: () => [],
    publish: refused("publish"),
    audit: refused("audit"),
    agents: {
      callerOf: refused("agents.callerOf"),
      rightsOf: refused("agents.rightsOf"),
      operator: refused("agents.operator"),
      lend: refused("agents.lend"),
      onTurnEnd: refused("agents.onTurnEnd"),
    },
    refresh: refused("refresh"),
    pairedClient: refused("pairedClient"),
    shared: states.shared,
    perClient: states.perClient,
    secrets: locked("secrets"),
    secretsOf: refused("secretsOf"),
    state: locked("state"),
  });
}

function silentLog() {
  const say = () => undefined;
  return { debug: say, info: say, warn: say, error: say };
}
