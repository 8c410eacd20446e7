/** `@svc/chaos`: the built binary under kills, failing platforms, full disks, locks and clocks that jump. Never in a binary. */
export { SCENARIOS } from "./scenarios/index.ts";
export type { Report, ScenarioOptions } from "./scenarios/scenario.ts";
