import type { Contributions, FeatureContext } from "@svc/contract";
import { createJail } from "./backend.ts";

export const create = ({ clock }: FeatureContext<unknown>): Contributions => ({ sandbox: createJail({ clock }) });
