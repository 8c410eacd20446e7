// A text that takes a reader time in proportion to its square stops the one thread that serves everybody. Steps are counted, not
// seconds: for four times the text no reader here takes more than about four times the steps.
import { worstGrowth } from "@svc/steps";
import { expect, test } from "vitest";
import { invitationIn } from "../src/body.ts";
import { headersIn } from "../src/headers.ts";
import { onlyAddressIn } from "../src/inbound.ts";

/** Lines of an event that begin what does not end. */
const LINES = ["SUMMARY;", 'SUMMARY;"', "BEGIN:VEVENT\n", 'SUMMARY;a="b"', "\n ", "DTSTART;TZID="];

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ["From", onlyAddressIn],
  ["a block of headers", (text) => headersIn(Buffer.from(`From: ${text}`))],
  ["a calendar", invitationIn],
  ["an event in a calendar", (text) => invitationIn(`BEGIN:VEVENT\n${text}`)],
  ["a date in a calendar", (text) => invitationIn(`BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;${text}\nEND:VEVENT\n`)],
];

test.each(READERS)("%s", (_name, read) =>
  expect(worstGrowth(read, LINES)).toSatisfy(({ times }) => times > 0.5 && times < 6),
);
