// The example of docs/shared-state.md is what authors begin with: it keeps every rule that the suites know.
import { type FeatureSubject, featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import definition from "./tool-parcels/src/index.ts";
import { create } from "./tool-parcels/src/parcels.ts";

const answers: Readonly<Record<string, string>> = { account: "Ann", sessions: "session-1", parcels: "Berlin" };
const fields: Readonly<Record<string, string>> = { account: "name", sessions: "session", parcels: "place" };
/** As the carrier does. */
const fetch: NonNullable<FeatureSubject["fetch"]> = (url) => {
  const [, what = ""] = new URL(url).pathname.split("/");
  return { bytes: Buffer.from(JSON.stringify({ [fields[what] ?? ""]: answers[what] })) };
};

const config = { api_url: "https://carrier.example", api_key: "a-key", calls_per_client: 100 };
const inputs = { parcel_where: { parcel: "A-1" }, parcel_door_code: { code: "1234" } };

featureConformance(definition, { root: `${import.meta.dirname}/tool-parcels`, config, fetch, inputs });

const context = fakeFeatureContext(config, {
  fetch: async (url, options = {}) => {
    options.signal?.throwIfAborted();
    return { status: 200, headers: {}, bytes: new Uint8Array(), truncated: false, url, ...fetch(url, options) };
  },
});
for (const tool of create(context).tools ?? [])
  toolConformance(tool, { input: inputs[tool.name as keyof typeof inputs] });
