// What every feature and every observer keeps.
import { featureConformance, observerConformance } from "@svc/testkit";
import definition from "../src/index.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..` });
observerConformance(definition, { config: { backend: "metrics" } });
