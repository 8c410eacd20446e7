/** Watches turns end and tells the numbers at `GET /api/__name__`. */
import { type Contributions, type FeatureContext, integer } from "@svc/contract";
import * as v from "valibot";
import type { Config } from "./index.ts";

const TURNS = v.object({ finished: integer(0), failed: integer(0), slow: integer(0) });

export function create({ config }: FeatureContext<Config>): Contributions {
  // Totals over all clients, not data of a single one: they may be shared.
  const turns = { finished: 0, failed: 0, slow: 0 };
  return {
    observer: {
      record(event) {
        if (event.type !== "turn-end") return;
        turns[event.ok ? "finished" : "failed"] += 1;
        if (event.durationMs >= config.slow_turn_secs * 1000) turns.slow += 1;
      },
    },
    routes: [
      {
        method: "GET",
        path: "/api/__name__",
        doc: {
          summary: "Tells how many turns ended, and how.",
          answers: { 200: { description: "Numbers since the start.", body: TURNS } },
        },
        handle: () => Promise.resolve({ status: 200, body: { ...turns } }),
      },
    ],
  };
}
