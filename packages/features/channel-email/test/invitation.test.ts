// Calendars of strangers, in a line.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { invitationIn } from "../src/body.ts";

test.each([
  [
    "METHOD:CANCEL\nBEGIN:VEVENT\nSUMMARY:x\nDTSTART:20260301T120000Z\nEND:VEVENT",
    "[cancelled invitation: x, 2026-03-01 12:00 (UTC)]",
  ],
  ["BEGIN:VEVENT\nDTSTART;VALUE=DATE:20260301\nEND:VEVENT", "[invitation: without a title, 2026-03-01]"],
  ["BEGIN:VEVENT\nDTSTART:tomorrow\nSUMMARY:a]\\nb\u0007\nEND:VEVENT", "[invitation: a b]"],
  ["METHOD:REPLY\nBEGIN:VEVENT\nSUMMARY:x", "[answer to an invitation: x]"],
  ["BEGIN:VTODO\nEND:VTODO", undefined],
  ["", undefined],
])("the calendar %j is %j", (calendar, line) => {
  expect(invitationIn(calendar)).toBe(line);
});

test("no calendar throws", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("BEGIN:VEVENT\n", "SUMMARY", ";", ":", '"', "\n", " ", "x", "DTSTART:2026") }),
      (text) => {
        expect(invitationIn(text) ?? "").toBeTypeOf("string");
      },
    ),
  );
});
