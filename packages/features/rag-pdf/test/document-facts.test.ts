// Dates of PDFs are told as exactly as the file says them, and what is no date is not told at all.
import { expect, test } from "vitest";
import { isoDate, plain } from "../src/read-pdf.ts";

test.each([
  ["D:20200501080000+02'00'", "2020-05-01T08:00:00+02:00"],
  ["D:20200501080000Z", "2020-05-01T08:00:00Z"],
  ["D:20200501080000-0730", "2020-05-01T08:00:00-07:30"],
  ["D:202005010800", "2020-05-01T08:00:00"],
  ["D:20200501", "2020-05-01"],
  ["20200501", "2020-05-01"],
  ["D:2021", "2021"],
  ["D:20201301", undefined],
  ["D:20200501250000", undefined],
  ["yesterday", undefined],
  ["", undefined],
])("%j", (text, date) => expect(isoDate(text)).toBe(date));

test("nothing that steers a terminal or turns the direction of what follows is left", () => {
  expect(plain("a\u001B[31m\u202Eb\u0000\u2066c\n\td\uD800")).toBe("a[31mbc\n\td\uFFFD");
});
