// An id that leads the channel's token to another path of the API than the one that was meant.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { pathPart } from "../src/index.ts";

test("whatever an id is, it is one part of the path", () => {
  const hostile = fc.oneof(
    fc.string({ unit: "binary", minLength: 1 }),
    fc.constantFrom("...", "%2e%2e", "../x", "a/b", "?", "#", "\\..", "\ud800"),
  );
  fc.assert(
    fc.property(
      hostile.filter((id) => id !== "." && id !== ".."),
      (id) => {
        const url = new URL(`https://api.example/v3/chats/${pathPart(id)}/messages`);
        expect([url.pathname.split("/").length, url.search, url.hash]).toEqual([5, "", ""]);
        expect(decodeURIComponent(url.pathname.split("/")[3]!)).toBe(id.toWellFormed());
      },
    ),
  );
});

test.each(["", ".", ".."])("%j is no id", (id) => {
  expect(() => pathPart(id)).toThrow(expect.objectContaining({ code: "DELIVERY_REFUSED" }));
  expect(() => pathPart(id, "MEDIA_REFUSED")).toThrow(expect.objectContaining({ code: "MEDIA_REFUSED" }));
});
