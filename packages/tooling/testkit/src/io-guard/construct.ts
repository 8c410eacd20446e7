/**
 * The child process: imports a feature's entry, validates the example configuration, loads and creates it, all under the
 * guard, compares it with another of its kind, and writes what it saw as JSON to standard output. Started as `node --import guard.ts construct.ts <JSON>`.
 */
import type { Contributions, FeatureExport } from "@svc/contract";
import { writeSync } from "node:fs";
import { sharedByConstructions } from "../conformance/shared-state.ts";
import { GUARD, type IoGuard, type Violation } from "./guard.ts";
import { openHidden } from "./hidden.ts";
import { lockedContext } from "./locked-context.ts";

export interface ConstructRequest {
  /** file: URL of the module whose default export is the definition, or the list of a feature's parts. */
  readonly entry: string;
  /** Id of the part to construct. Default: the first. */
  readonly id?: string;
  /** The example section, as TOML would give it. */
  readonly config: unknown;
}

export interface ConstructReport {
  readonly violations: readonly Violation[];
  /** Path to what two constructions share and could change. */
  readonly shared?: string;
  /** Why it could not be constructed at all. */
  readonly error?: string;
}

const guard = (globalThis as unknown as Record<symbol, IoGuard>)[GUARD] as IoGuard;
const { getActiveResourcesInfo } = process;
const request = JSON.parse(process.argv[2] ?? "{}") as ConstructRequest;

let error: unknown;
let twice: readonly [Contributions, again: () => Contributions] | undefined;
const before = countOf(getActiveResourcesInfo());
// What the guard throws into a callback that nobody catches is recorded already and must not end this process.
process.on("uncaughtException", (thrown) => (error ??= thrown));
guard.arm();
try {
  const { default: exported } = (await import(request.entry)) as { default: FeatureExport };
  const parts = [exported].flat();
  const definition = parts.find(({ id }) => id === request.id) ?? parts[0]!;
  const module = await definition.load();
  const create = (): Contributions => module.create(lockedContext(definition, request.config, guard.violation));
  twice = [create(), create];
  // What construction left for later (a promise, a next tick) is its doing too.
  for (let turn = 0; turn < 20; turn += 1) await guard.nextTurn();
} catch (thrown) {
  error = thrown;
}
guard.disarm();

const violations = [...guard.violations, ...leftBehind(before, countOf(getActiveResourcesInfo()))];
// One that does I/O is made once only: nothing would keep the second from it.
const shared = violations.length === 0 && twice ? sharedWithAnother(...twice) : undefined;
const report: ConstructReport = {
  violations,
  ...(shared !== undefined && { shared }),
  ...(error !== undefined && { error: String(error) }),
};
writeSync(1, JSON.stringify(report));
// What it left running must not keep this process.
process.exit(0);

function sharedWithAnother(first: Contributions, again: () => Contributions): string | undefined {
  using hidden = openHidden();
  return sharedByConstructions(first, again(), hidden);
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
