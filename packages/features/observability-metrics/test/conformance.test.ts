// What every feature and every observer keeps.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { observerConformance } from "@svc/testkit/conformance/observer-conformance";
import definition from "../src/index.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..` });
observerConformance(definition, { config: { backend: "metrics" } });
