/** A feature that breaks no rule; the tests break one at a time. */
import {
  type Contributions,
  defineFeature,
  type FeatureContext,
  type FeatureDefinition,
  type Route,
  type Tool,
} from "@svc/contract";
import * as v from "valibot";
import type { Check } from "../../src/check.ts";
import { featureChecks, type FeatureSubject } from "../../src/conformance/feature-conformance.ts";
import { writePackage, type PackageText } from "../feature-package.ts";

/** Checks that need a process of their own; io-guard.e2e.test.ts and shared-state.e2e.test.ts have their fakes. */
const IN_A_PROCESS = new Set([
  "importing and constructing does no I/O, starts no timer and reads no environment",
  "nor out of sight, in private fields and in what functions close over",
]);

export type Broken = readonly [fake: string, spoilt: Fake, rules: readonly string[]];

export const tool: Tool = {
  name: "fake_tool",
  description: "Does nothing at all, reliably.",
  input: v.strictObject({ path: v.string() }),
  approval: "auto",
  run: () => Promise.resolve(null),
};

export const route = (path: string, access: Route["access"] & string): Route => ({
  method: "GET",
  path,
  access,
  doc: { summary: "Does nothing.", answers: {} },
  handle: () => Promise.resolve({ status: 200, body: null }),
});

export const sound = (): Contributions => ({
  tools: [tool],
  routes: [route("/api/closed", "read"), route("/api/open", "open")],
  channel: { send: () => Promise.resolve({}) },
  register: async (signal) => signal.throwIfAborted(),
  run: async (signal) => signal.throwIfAborted(),
  shutdown: () => Promise.resolve(),
});

export interface Fake {
  readonly definition?: Partial<FeatureDefinition>;
  readonly create?: (context: FeatureContext) => Contributions;
  readonly inputs?: FeatureSubject["inputs"];
  readonly package?: Partial<PackageText>;
  readonly config?: FeatureSubject["config"];
  readonly frozen?: false;
}

export const schema = v.strictObject({ url: v.string(), retry: v.optional(v.strictObject({ times: v.number() })) });
export const config = { url: "https://example.org", retry: { times: 3 } };

/** `folder`: an empty one, for its package. */
export function checksOf(fake: Fake, folder: string): Check[] {
  const routes = ["/api/closed", "/api/open"];
  const manifest = { sections: ["fake"], tools: ["fake_tool"], routes, open: ["/api/open"] };
  const root = writePackage(folder, { id: "fake-feature", manifest, ...fake.package });
  const create = fake.create ?? sound;
  const definition: FeatureDefinition = {
    id: "fake-feature",
    section: "fake",
    config: schema,
    load: () => Promise.resolve({ create }),
    ...fake.definition,
  };
  const example = "config" in fake ? fake.config : config;
  const { inputs = { fake_tool: { path: "a.txt" } } } = fake;
  const fetch: FeatureSubject["fetch"] = (url) => (url.endsWith("/me") ? { bytes: Buffer.from('{"name":"Ann"}') } : {});
  const subject = { root, inputs, fetch, ...(example && { config: example }) };
  const checks = featureChecks(fake.frozen === false ? definition : defineFeature(definition), subject);
  return checks.filter(({ name }) => !IN_A_PROCESS.has(name));
}
