// A key that is mistyped must stop the start, and say where it is: an account that nobody reaches, or that a stranger reaches, is worse.
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { config } from "../src/config.ts";
import { ADA, AGENT, EVE, SECTION } from "./fixture.ts";

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const read = (more: Readonly<Record<string, unknown>>) => v.parse(config, { ...SECTION, ...more });
/** Keys and positions of what is wrong. */
const problems = (more: Readonly<Record<string, unknown>>): string[] => {
  const result = v.safeParse(config, { ...SECTION, ...more });
  return (result.issues ?? []).map((issue) => v.getDotPath(issue) ?? "");
};

describe("private_key", () => {
  test.each([AGENT.nsec, AGENT.nsec.toUpperCase(), hexOf(AGENT.secretKey), ` ${hexOf(AGENT.secretKey)}\n`])(
    "takes nsec and hexadecimal digits",
    (key) => expect(problems({ private_key: key })).toEqual([]),
  );

  test.each([
    ["a public key", AGENT.npub],
    ["a wrong checksum", `${AGENT.nsec.slice(0, -1)}${AGENT.nsec.endsWith("q") ? "p" : "q"}`],
    ["63 digits", hexOf(AGENT.secretKey).slice(1)],
    ["zero", "0".repeat(64)],
    ["the order of the group", "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"],
    ["words", "my secret"],
  ])("refuses %s", (_, key) => expect(problems({ private_key: key })).toEqual(["private_key"]));
});

describe("allowed_pubkeys", () => {
  test("an npub and its hexadecimal digits are the same account", () => {
    expect(read({ allowed_pubkeys: [ADA.npub, EVE.pubkey.toUpperCase(), "*"] }).allowed_pubkeys).toEqual([
      ADA.npub,
      EVE.npub,
      "*",
    ]);
  });

  test("an invalid one is an error at its position", () => {
    expect(problems({ allowed_pubkeys: [ADA.npub, "ada", EVE.npub, AGENT.nsec] })).toEqual([
      "allowed_pubkeys.1",
      "allowed_pubkeys.3",
    ]);
  });

  test("hexadecimal digits that are no point of the curve are no key", () => {
    // 5 is the x of no point: 5³ + 7 has no square root.
    expect(problems({ allowed_pubkeys: ["5".padStart(64, "0")] })).toEqual(["allowed_pubkeys.0"]);
    expect(problems({ allowed_pubkeys: ["f".repeat(64)] })).toEqual(["allowed_pubkeys.0"]);
  });

  test("without it nobody may write", () => {
    const { allowed_pubkeys: _, ...rest } = SECTION;
    expect(v.parse(config, rest).allowed_pubkeys).toEqual([]);
  });

  test("the other lists of accounts take the same", () => {
    expect(
      read({ approvers: [ADA.pubkey], allowed_targets: [ADA.pubkey, "*"], notification_target: ADA.pubkey }),
    ).toMatchObject({
      approvers: [ADA.npub],
      allowed_targets: [ADA.npub, "*"],
      notification_target: ADA.npub,
    });
    expect(problems({ approvers: [ADA.npub, "bob"] })).toEqual(["approvers.1"]);
    expect(problems({ approvers: ["*"] })).toEqual(["approvers.0"]);
    expect(problems({ notification_target: "bob" })).toEqual(["notification_target"]);
  });
});

describe("relays", () => {
  test("each is known by one spelling", () => {
    const relays = ["wss://Relay.Example.org/", "wss://relay.example.org", "wss://relay.example.org:443/path"];
    expect(read({ relays }).relays).toEqual(["wss://relay.example.org", "wss://relay.example.org/path"]);
  });

  test.each([
    "https://relay.example.org",
    "relay.example.org",
    "wss://user:pw@relay.example.org",
    "wss://a b",
    "wss://x/#y",
  ])("refuses %s", (relay) => expect(problems({ relays: ["wss://good.example.org", relay] })).toEqual(["relays.1"]));

  test("there is at least one", () => expect(problems({ relays: [] })).toEqual(["relays"]));
});
