// The channel keeps what every feature keeps: its names agree, nothing happens before it is registered, its schema is strict.
import { featureConformance } from "@svc/testkit";
import definition from "../src/index.ts";
import { SECTION } from "./house.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..`, config: SECTION });
