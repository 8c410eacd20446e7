// One section serves two modes: what is missing, or needs another feature, must be told of the mode that is meant.
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { config } from "../src/config.ts";
import definition from "../src/index.ts";
import { SECTION } from "./harness.ts";

const problemsOf = (section: object): string[] =>
  (v.safeParse(config, section).issues ?? []).map((issue) => v.getDotPath(issue) ?? "");

describe("Cloud mode", () => {
  test.each([
    [{}, ["access_token", "phone_number_id", "verify_token"]],
    [{ phone_number_id: "1" }, ["access_token", "verify_token"]],
    [{ phone_number_id: "1", session_path: "x" }, ["access_token", "verify_token"]],
    [{ access_token: "t", verify_token: "v" }, ["phone_number_id"]],
    // Every problem is told at once.
    [{ ...SECTION, verify_token: undefined, mode: "x" }, ["mode", "verify_token"]],
  ])("%j lacks %j", (section, missing) => {
    expect(problemsOf(section).toSorted()).toEqual(missing);
  });

  test.each(["", "+15551234567", "1 2", "../1"])("%j is no phone number id", (id) => {
    expect(problemsOf({ ...SECTION, phone_number_id: id })).toEqual(["phone_number_id"]);
  });

  test("the API's address may end with a slash, and has a default", () => {
    expect(v.parse(config, { ...SECTION, api_url: "http://127.0.0.1:8080/v25.0/" }).api_url).toBe(
      "http://127.0.0.1:8080/v25.0",
    );
    expect(v.parse(config, SECTION).api_url).toMatch(/^https:\/\/graph\.facebook\.com\/v\d+\.0$/);
  });
});

describe("Web mode", () => {
  const WEB = {
    session_path: "session",
    pair_phone: "+15551234567",
    mode: "personal",
    allowed_numbers: ["+15550001111"],
  };

  test("needs nothing of the Cloud API's, and another feature", () => {
    expect(problemsOf(WEB)).toEqual([]);
    expect(definition.needs?.(v.parse(config, WEB))).toEqual([{ key: "session_path", feature: "provider-a-web" }]);
  });

  test("lists each number in personal mode, and takes another root certificate only from this machine", () => {
    expect(problemsOf({ ...WEB, allowed_numbers: ["*"] })).toEqual(["allowed_numbers"]);
    expect(problemsOf({ ...WEB, mode: "business", allowed_numbers: ["*"] })).toEqual([]);
    const web_root_key = "ab".repeat(32);
    expect(problemsOf({ ...WEB, web_root_key })).toEqual(["web_root_key"]);
    expect(problemsOf({ ...WEB, web_root_key, api_url: "https://127.0.0.1.evil.example" })).toEqual(["web_root_key"]);
    expect(problemsOf({ ...WEB, web_root_key, api_url: "http://127.0.0.1:8080" })).toEqual([]);
  });

  test("is not meant where phone_number_id is", () => {
    expect(definition.needs?.(v.parse(config, { ...WEB, ...SECTION }))).toEqual([]);
    expect(definition.needs?.(v.parse(config, SECTION))).toEqual([]);
  });
});
