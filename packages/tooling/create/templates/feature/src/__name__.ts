/** Watches turns end and tells the numbers at `GET /api/__name__`. */
import type { Contributions, FeatureContext } from "@svc/contract";
import type { Config } from "./index.ts";

export function create({ config }: FeatureContext<Config>): Contributions {
  // Numbers about all clients, none of any single one: they may be shared.
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
      { method: "GET", path: "/api/__name__", handle: () => Promise.resolve({ status: 200, body: { ...turns } }) },
    ],
  };
}
