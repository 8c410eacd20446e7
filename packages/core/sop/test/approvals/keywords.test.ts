// A yes that nobody said, or one that is not heard: a word taken for another, feedback cut in the middle of a letter.
import { vectorCases } from "@svc/testkit/vectors";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Keywords, checkedKeywords, fold, matchKeyword } from "../../src/approvals/keywords.ts";

interface Input {
  readonly reply: string;
  readonly approve_keywords: readonly string[];
  readonly reject_keywords: readonly string[];
}

const cases = vectorCases<Input, { readonly outcome: string; readonly feedback?: string }>("approval.keywords");

const keywords = (approveKeywords: readonly string[], rejectKeywords: readonly string[] = []): Keywords => ({
  approveKeywords,
  rejectKeywords,
});
const DEFAULT = checkedKeywords(undefined, undefined);

describe("the vectors", () => {
  test.each(cases)("$name", ({ input, expected }) => {
    const match = matchKeyword(input.reply, keywords(input.approve_keywords, input.reject_keywords));
    const outcome = match === undefined ? "none" : match.approved ? "approved" : "rejected";
    expect({ outcome, feedback: match?.feedback }).toMatchObject(expected);
  });
});

describe("a reply", () => {
  test.each([
    ["  YES  ", { approved: true, feedback: "" }],
    ["\n No \n\n because  \n", { approved: false, feedback: "because" }],
    ["approve\u00a0it", { approved: true, feedback: "it" }],
    ["approve,", undefined],
    ["I approve", undefined],
    ["", undefined],
    ["   ", undefined],
    ["noyes", undefined],
  ])("%j", (reply, expected) => expect(matchKeyword(reply, DEFAULT)).toEqual(expected));

  test.each([
    ["İPTAL et", "iptal", undefined],
    ["İPTAL et", "i̇ptal", "et"],
    ["STRASSE frei", "straße", "frei"],
    ["ΟΔΟΣ 1", "οδός", undefined],
    ["ΟΔΟΣ 1", "οδος", "1"],
    ["Ｙes x", "yes", undefined],
    ["É bien", "e\u0301", "bien"],
  ])("%j to the keyword %j", (reply, keyword, feedback) => {
    expect(matchKeyword(reply, keywords([keyword]))?.feedback).toBe(feedback);
  });

  test("may be of several words, however they are spaced; the longest keyword counts", () => {
    const words = keywords(["go ahead", "go"], ["go away"]);
    expect(matchKeyword("Go \n Ahead now", words)).toEqual({ approved: true, feedback: "now" });
    expect(matchKeyword("go away now", words)).toEqual({ approved: false, feedback: "now" });
    expect(matchKeyword("go now", words)).toEqual({ approved: true, feedback: "now" });
    expect(matchKeyword("go aheadx", words)).toEqual({ approved: true, feedback: "aheadx" });
  });

  test("of a megabyte is no trouble", () => {
    expect(matchKeyword(`yes ${"x ".repeat(500_000)}`, DEFAULT)?.approved).toBe(true);
    expect(matchKeyword("x".repeat(1_000_000), DEFAULT)).toBeUndefined();
  });
});

const anyText = fc.string({ unit: "grapheme", maxLength: 30 });
const anyWord = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).filter((word) => /^\S+$/.test(word));

describe("of whatever is written", () => {
  test("the keyword alone matches in upper and in lower case, and nothing of it is left as feedback", () => {
    fc.assert(
      fc.property(anyWord, fc.constantFrom("", " ", "\t\n"), (word, space) => {
        for (const form of [word, word.toUpperCase(), word.toLowerCase(), word.normalize("NFD")]) {
          if (!/^\S+$/.test(form)) continue;
          expect(matchKeyword(space + form + space, keywords([word]))).toEqual({ approved: true, feedback: "" });
        }
      }),
    );
  });

  test("what follows the keyword is the feedback, letter by letter", () => {
    fc.assert(
      fc.property(anyWord, anyText, (word, rest) => {
        expect(matchKeyword(`${word} ${rest}`, keywords([], [word]))).toEqual({
          approved: false,
          feedback: rest.trim(),
        });
      }),
    );
  });

  test("a keyword that goes on without white space is another word", () => {
    fc.assert(
      fc.property(anyWord, anyWord, (word, more) => {
        fc.pre(fold(word + more) !== fold(word));
        expect(matchKeyword(word + more, keywords([word]))).toBeUndefined();
      }),
    );
  });

  test("folding twice is folding once", () => {
    fc.assert(
      fc.property(anyWord, (word) => {
        expect(fold(fold(word))).toBe(fold(word));
      }),
    );
  });
});

describe("lists of keywords", () => {
  test("that are missing are the usual words; one that is given empty stays empty", () => {
    expect(checkedKeywords(undefined, undefined)).toEqual(keywords(["approve", "yes"], ["reject", "no"]));
    expect(checkedKeywords([], undefined)).toEqual(keywords([], ["reject", "no"]));
    expect(checkedKeywords([" ship it "], [])).toEqual(keywords(["ship it"]));
  });

  test.each([
    [["ok"], ["OK "]],
    [["go  on"], ["Go on"]],
    [["ẞ"], ["ss"]],
    [["no"], undefined],
    [undefined, ["yes"]],
    [[" "], []],
    [["a\u0000"], []],
    [["x".repeat(65)], []],
    [Array.from({ length: 33 }, (_, at) => `w${at}`), []],
  ])("%j and %j are refused", (approve, reject) => {
    expect(() => checkedKeywords(approve, reject)).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
  });
});
