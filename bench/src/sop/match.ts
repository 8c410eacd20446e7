/** What it costs to find the procedures that an event starts, by how many there are. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@svc/runtime";
import { systemClock } from "@svc/kit/system-clock";
import { createLibrary } from "@svc/sop";
import { median } from "../measure.ts";
import { BODY, PATH, writeDefinitions } from "./definitions.ts";

export interface Match {
  readonly definitions: number;
  /** To read all files. */
  readonly loadMs: number;
  /** To find the one that fits, condition included. */
  readonly matchUs: number;
}

const EVENTS = 100_000;
const EVENT = { source: "webhook", topic: PATH, payload: BODY } as const;

export async function measureMatch(counts: readonly number[], rounds: number): Promise<Match[]> {
  const root = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const log = createLogger({ level: "error", write: () => {}, json: true, clock: systemClock });
  try {
    const libraries = [];
    for (const definitions of counts) {
      const workspace = join(root, String(definitions));
      writeDefinitions(workspace, definitions);
      const rules = { folder: () => join(workspace, "sops"), defaultMode: () => "auto" as const, reserved: () => [] };
      const library = createLibrary({ clock: systemClock, log, ...rules });
      // A file that was written a moment ago is left alone for another one.
      await new Promise((resolve) => setTimeout(resolve, 200));
      const beganAt = performance.now();
      await library.reload();
      libraries.push({ definitions, library, loadMs: performance.now() - beganAt, us: [] as number[] });
    }
    for (let round = 0; round <= rounds; round += 1) {
      for (const { library, us } of libraries) us.push(timed(() => library.matching(EVENT).length));
    }
    // The first round is for the compiler.
    return libraries.map(({ definitions, loadMs, us }) => ({ definitions, loadMs, matchUs: median(us.slice(1)) }));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function timed(match: () => number): number {
  const beganAt = performance.now();
  let matched = 0;
  for (let count = 0; count < EVENTS; count += 1) matched += match();
  if (matched !== EVENTS) throw new Error(`matched ${matched} times`);
  return ((performance.now() - beganAt) * 1000) / EVENTS;
}
