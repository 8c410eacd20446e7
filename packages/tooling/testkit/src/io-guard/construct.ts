/**
 * The child process: imports a feature's entry, validates the example configuration, loads and creates it, all under the
 * guard, and writes what it saw as JSON to standard output. Started as `node --import guard.ts construct.ts <JSON>`.
 */
import type { FeatureDefinition } from "@svc/contract";
import { writeSync } from "node:fs";
import { FeatureStates } from "@svc/kernel";
import * as v from "valibot";
import { GUARD, type IoGuard, type Violation } from "./guard.ts";

export interface ConstructRequest {
  /** file: URL of the module whose default export is the definition. */
  readonly entry: string;
  /** The example section, as TOML would give it. */
  readonly config: unknown;
}

export interface ConstructReport {
  readonly violations: readonly Violation[];
  /** Why it could not be constructed at all. */
  readonly error?: string;
}

const guard = (globalThis as unknown as Record<symbol, IoGuard>)[GUARD] as IoGuard;
const { getActiveResourcesInfo } = process;
const request = JSON.parse(process.argv[2] ?? "{}") as ConstructRequest;

let error: unknown;
const before = countOf(getActiveResourcesInfo());
// What the guard throws into a callback that nobody catches is recorded already and must not end this process.
process.on("uncaughtException", (thrown) => (error ??= thrown));
guard.arm();
try {
  const { default: definition } = (await import(request.entry)) as { default: FeatureDefinition };
  const module = await definition.load();
  const own = definition.config;
  const config: unknown = own ? v.parse(own, request.config) : definition.when && request.config;
  const { shared, perClient } = new FeatureStates();
  const secretsOf = refused("secretsOf");
  const store = { secrets: lockedStore("secrets"), secretsOf, state: lockedStore("state"), shared, perClient };
  const doors = { fetch: refused("fetch"), resolve: refused("resolve"), receive: refused("receive") };
  const about = { readings: refused("readings"), pairedClient: refused("pairedClient") };
  const build = { version: "1.2.3", commit: "0123abc", profile: "test" };
  const surrounding = { build, publicUrl: undefined, speech: lockedSpeech(), ...about };
  const surroundings = { log: silentLog(), clock: stoppedClock(), ...surrounding, ...doors, ...store };
  module.create(Object.freeze({ config, ...surroundings }));
  // What construction left for later (a promise, a next tick) is its doing too.
  for (let turn = 0; turn < 20; turn += 1) await guard.nextTurn();
} catch (thrown) {
  error = thrown;
}
guard.disarm();

const violations = [...guard.violations, ...leftBehind(before, countOf(getActiveResourcesInfo()))];
const report: ConstructReport = { violations, ...(error !== undefined && { error: String(error) }) };
writeSync(1, JSON.stringify(report));
// What it left running must not keep this process.
process.exit(0);

function silentLog() {
  const say = () => undefined;
  return { debug: say, info: say, warn: say, error: say };
}

/** Telling the time is no I/O; starting a timer is. */
function stoppedClock() {
  return { now: () => 0, monotonic: () => 0, sleep: refused("clock.sleep"), after: refused("clock.after") };
}

function lockedSpeech() {
  const { transcribe, speak } = { transcribe: refused("speech.transcribe"), speak: refused("speech.speak") };
  return { canTranscribe: false, canSpeak: false, transcribe, speak };
}

function lockedStore(what: string) {
  const at = (name: string) => refused(`${what}.${name}`);
  return { get: at("get"), set: at("set"), delete: at("delete"), list: at("list") };
}

/** Recorded as a violation too, so that catching what it throws hides nothing. */
function refused(what: string): () => never {
  return () => {
    throw guard.violation(`context.${what}`);
  };
}

function countOf(resources: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of resources) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Sockets, timers and file handles that are open now and were not before: made by a way the guard doesn't know. */
function leftBehind(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): Violation[] {
  return [...after]
    .filter(([kind, count]) => kind !== "Immediate" && count > (before.get(kind) ?? 0))
    .map(([kind]) => ({ what: `an open ${kind}`, at: "left behind after construction" }));
}
