// The package keeps what every feature keeps, and its section is what its page says.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { vectorCases } from "@svc/testkit/vectors";
import * as v from "valibot";
import { expect, test } from "vitest";
import definition from "../src/index.ts";
import { REFRESH, section, TOPIC } from "./open-channel.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..`, config: { ...section, ...REFRESH } });

const parse = (changes: object) => v.safeParse(definition.config!, { topic: TOPIC, ...changes });

test("it is off unless the section says enabled", () => {
  const off = vectorCases<{ enabled: boolean }>("mailpush.http").find(({ input }) => !input.enabled);
  expect(off?.expected).toMatchObject({ status: 404 });
  expect(parse({}).output).toMatchObject({ enabled: false, label_filter: ["INBOX"], allowed_senders: [] });
});

test.each([
  { topic: "mail" },
  { topic: "projects/p/subscriptions/mail" },
  { push_audience: "a" },
  { push_service_account: "a" },
  { refresh_token: "a" },
  { refresh_token: "a", client_id: "b" },
  { client_secret: "a" },
  { label_filter: "INBOX" },
  { webhook_url: "ftp://x" },
])("%j is refused", (changes) => {
  expect(parse(changes).success).toBe(false);
});

/** `svc secrets set` sets one after the other, and refuses only what is wrong at the key that it sets. */
test.each<[object, string[]]>([
  [{ refresh_token: "a" }, ["client_id", "client_secret"]],
  [{ client_id: "a", client_secret: "b" }, ["refresh_token"]],
  [{ client_id: "a", client_secret: "b", refresh_token: " " }, ["refresh_token"]],
  [{ push_audience: "a" }, ["push_service_account"]],
  [{ push_service_account: "a" }, ["push_audience"]],
])("of %j the keys %j are missing, and told so", (changes, missing) => {
  const { issues = [] } = parse(changes);
  expect(issues.map((issue) => v.getDotPath(issue))).toEqual(missing);
});

test.each([{ push_audience: "a", push_service_account: "b" }, { ...REFRESH }, { webhook_secret: "" }])(
  "%j is taken",
  (changes) => {
    expect(parse(changes).success).toBe(true);
  },
);
