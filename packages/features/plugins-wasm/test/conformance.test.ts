// What every feature keeps.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import definition from "../src/index.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..`, config: {} });
