import type { Contributions, FeatureContext } from "@svc/contract";
import { createUserns } from "./backend.ts";

export const create = ({ clock }: FeatureContext<unknown>): Contributions => ({ sandbox: createUserns({ clock }) });
