// The feature keeps what every feature keeps, and its section refuses what could never work or would tell a secret.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { config } from "../src/config.ts";
import definition from "../src/index.ts";
import { payloadText } from "../src/mqtt.ts";

const SECTION = { url: "mqtt://broker.example:1883", topics: ["home/#"] };

featureConformance(definition, { root: `${import.meta.dirname}/..`, config: SECTION });

describe("[mqtt]", () => {
  test.each([
    [{ url: "mqtts://broker.example", topics: ["#"], username: "svc", password: "p", tls_ca: "/etc/ca.pem" }],
    [{ url: "mqtt://[::1]:1883", topics: ["+/door", "a", "$SYS/#"], client_id: "svc-1" }],
  ])("takes %j", (section) => {
    expect(v.is(config, section)).toBe(true);
  });

  test.each([
    [{ url: "http://broker.example" }],
    [{ url: "mqtt://user:pass@broker.example" }],
    [{ url: "mqtt://broker.example/path" }],
    [{ url: "mqtt://broker.example?x" }],
    [{ url: "mqtt://" }],
    [{ url: "mqtt://bro ker" }],
    [{ topics: [] }],
    [{ topics: ["a/#/b"] }],
    [{ topics: ["a+"] }],
    [{ topics: [""] }],
    [{ topics: ["$share/group/a"] }],
    [{ password: "alone" }],
    [{ client_id: "with blank" }],
    [{ tls_ca: "/etc/ca.pem" }],
    [{ url: "mqtts://broker.example", tls_ca: "ca.pem" }],
    [{ qos: 2 }],
  ])("refuses %j", (wrong) => {
    expect(v.is(config, { ...SECTION, ...wrong })).toBe(false);
  });
});

test.each([
  ['{"open":true}', '{"open":true}'],
  ["21.5", "21.5"],
  ["ON", '"ON"'],
  ["", null],
  ["\ufeff1", '"\ufeff1"'],
])("the payload %j is the JSON %j", (payload, text) => {
  expect(payloadText(Buffer.from(payload))).toBe(text);
});

test("a payload that is no text is its bytes in base64", () => {
  expect(payloadText(Buffer.of(0xff, 0x00))).toBe('{"base64":"/wA="}');
});
