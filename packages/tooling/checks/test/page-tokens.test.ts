// A colour beside the tokens has no counterpart in the dark; a size beside them is no step of the scale.
import { expect, test } from "vitest";
import { pageTokens } from "../src/checks/page-tokens.ts";
import { judge } from "./judge.ts";

const file = "apps/dashboard/src/styles/parts.css";

test.each([
  ["color: #fff;", "colour"],
  ["background: rgb(0 0 0 / 45%);", "colour"],
  ["fill: light-dark(red, blue);", "colour"],
  ["font-size: 0.8125rem;", "type size"],
  ["font: 600 14px / 1.5 var(--sans);", "type size"],
  ["border-radius: 10px;", "radius"],
  ["border-top-left-radius: 1rem;", "radius"],
])("%s is a raw %s", (code, what) => {
  expect(judge(pageTokens, { [file]: `/* #fff */\n.a {\n  ${code}\n}\n` })).toEqual([
    `${file}:3 A ${what} that is no token: ${code}`,
  ]);
});

test.each([
  "color: var(--text);",
  "background: color-mix(in oklab, var(--accent), var(--text) 15%);",
  "font: var(--t4) / 1.5 var(--sans);",
  "font: inherit;",
  "border-radius: 50%;",
  "border-radius: 0;",
  "padding: 1px var(--s1);",
])("%s is taken", (code) => {
  expect(judge(pageTokens, { [file]: `.a {\n  ${code}\n}\n` })).toEqual([]);
});

test("the tokens themselves are written in one file", () => {
  expect(judge(pageTokens, { "apps/dashboard/src/styles/tokens.css": ":root { --text: #fff; }" })).toEqual([]);
});
