// The pieces that many schemas share: what a page of a list may be asked for, and what a refusal says about it.
import * as v from "valibot";
import { expect, test } from "vitest";
import { ApprovalQuery, before, ErrorBody, limit, SessionUpdate } from "../src/index.ts";

test.each(["1", "50", "200"])("takes %s as the length of a page", (text) => {
  expect(v.parse(limit("lines"), text)).toBe(Number(text));
});

test.each(["0", "201", "-1", "1.5", "1e2", "0x10", " 7", "٣", "", "1000"])(
  "refuses %j as the length of a page",
  (text) => {
    expect(v.is(limit("lines"), text)).toBe(false);
  },
);

test("leaves the length of a page open when none is asked for", () => {
  expect(v.parse(limit("lines"), undefined)).toBeUndefined();
});

test.each(["-1", "1.5", "9".repeat(16), "x"])("refuses %j as a cursor", (text) => {
  expect(v.is(before(), text)).toBe(false);
});

test("names the values of a choice in the words of a refusal", () => {
  const { wrapped } = ApprovalQuery.status;
  expect(v.getDescription(wrapped)).toBe("waiting, approved, rejected, expired or cancelled");
});

test("tells a field that is left out from one that is null", () => {
  expect(v.is(SessionUpdate, {})).toBe(true);
  expect(v.is(SessionUpdate, { title: null })).toBe(true);
  expect(v.is(SessionUpdate, { pinned: null })).toBe(false);
  expect(v.is(SessionUpdate, { other: 1 })).toBe(false);
  expect(v.is(ErrorBody, { error: "No.", code: "X", retry_after: 0 })).toBe(false);
});
