import type { Contributions, FeatureContext } from "@svc/contract";
import { createUserns } from "./backend.ts";

export function create({ clock }: FeatureContext<unknown>): Contributions {
  const { backend, shutdown } = createUserns({ clock });
  return { sandbox: backend, shutdown };
}
