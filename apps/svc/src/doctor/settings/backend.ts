/** Whether who is to watch is in this build. */
import { type Finding, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

export function backendFindings({ config, catalogue }: Settings): Finding[] {
  const id = "observability";
  const { backend } = config.core.observability;
  if (config.backend === backend) return [ok(id, `The backend that watches is ${backend}, as the config says.`)];
  const message =
    `The backend that is to watch, ${backend}, is not in this build: ` +
    `turns and deliveries are written to the log (backend ${config.backend}) instead.`;
  const entry = catalogue.find((each) => each.id === `observability-${backend}`);
  return [warning(id, message, entry?.build ?? "svc features --all")];
}
