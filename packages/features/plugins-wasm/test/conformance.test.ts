// What every feature keeps.
import { featureConformance } from "@svc/testkit";
import definition from "../src/index.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..`, config: {} });
