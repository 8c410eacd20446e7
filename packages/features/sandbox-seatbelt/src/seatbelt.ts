import type { Contributions, FeatureContext } from "@svc/contract";
import { createSeatbelt } from "./backend.ts";

export const create = ({ clock }: FeatureContext<unknown>): Contributions => ({ sandbox: createSeatbelt({ clock }) });
