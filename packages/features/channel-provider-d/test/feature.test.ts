// The package keeps what every feature keeps, and its section is what its page says.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import * as v from "valibot";
import { expect, test } from "vitest";
import definition from "../src/index.ts";
import { section } from "./open-channel.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..`, config: section });

test("the API is at base_url, which may be on a private network, unless api_url says otherwise", () => {
  const parse = (changes: object) => v.parse(definition.config!, { ...section, ...changes });
  expect(parse({ base_url: "http://10.0.0.5/nextcloud/" })).toMatchObject({
    base_url: "http://10.0.0.5/nextcloud",
    api_url: "http://10.0.0.5/nextcloud",
  });
  expect(parse({ api_url: "http://127.0.0.1:8080/" })).toMatchObject({ api_url: "http://127.0.0.1:8080" });
});

test.each([
  { base_url: undefined },
  { app_token: undefined },
  { base_url: "cloud.example.org" },
  { base_url: "https://user:pass@cloud.example.org" },
  { allowed_users: "ada" },
])("%j is refused", (changes) => {
  expect(v.safeParse(definition.config!, { ...section, ...changes }).success).toBe(false);
});
