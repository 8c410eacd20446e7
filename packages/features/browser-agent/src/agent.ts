import type { Contributions, FeatureContext } from "@svc/contract";
import { browserFeature } from "@svc/kit/browser";
import { agentDriver } from "./driver.ts";

export const create = (context: FeatureContext): Contributions => browserFeature(context, agentDriver(context));
