// What every feature and every observer keeps.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { observerConformance } from "@svc/testkit/conformance/observer-conformance";
import { afterAll } from "vitest";
import definition from "../src/index.ts";
import { sectionOf } from "./open.ts";
import { startSink } from "./sink.ts";

const sink = await startSink();
afterAll(() => sink.close());

featureConformance(definition, { root: `${import.meta.dirname}/..` });
observerConformance(definition, { config: { backend: "otel", ...sectionOf({ otel_endpoint: sink.url }) } });
