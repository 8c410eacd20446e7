// What every feature keeps; that it confines is tried in the tests beside this one.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import definition from "../src/index.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..` });
