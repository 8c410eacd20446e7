// An echo that is not the same to the letter is no proof to the platform; one that is a page is a way to run scripts here.
import { expect, test } from "vitest";
import { hubChallenge } from "../src/index.ts";

const answerTo = (query: string) => hubChallenge({ query: new URLSearchParams(query) });

test.each([
  ["hub.challenge=1158201444", "1158201444"],
  ["hub.challenge=%3Cscript%3E&hub.challenge=2", "<script>"],
  ["hub%2Echallenge=a%20b+c", "a b c"],
])("%s is sent back as text", (query, body) => {
  expect(answerTo(query)).toEqual({ status: 200, contentType: "text/plain; charset=utf-8", body });
});

test.each(["", "hub.challenge=", "hub.challenge[]=1", "challenge=1"])("%j has none", (query) => {
  expect(() => answerTo(query)).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
});
