// A text that takes a reader time in proportion to its square stops the one thread that serves everybody. Steps are counted, not
// seconds: for four times the text no reader here takes more than about four times the steps.
import { worstGrowth } from "@svc/steps";
import { expect, test } from "vitest";
import { takesCommands } from "../src/policy/command-line.ts";
import { parseLine } from "../src/policy/shell-syntax.ts";

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ["a command line", parseLine],
  ["a command line in quotes", (text) => parseLine(`echo "${text}`)],
  ["the name of a program", takesCommands],
];

test.each(READERS)("%s", (_name, read) => expect(worstGrowth(read)).toSatisfy(({ times }) => times > 0.5 && times < 6));
