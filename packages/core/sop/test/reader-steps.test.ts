// A text that takes a reader time in proportion to its square stops the one thread that serves everybody. Steps are counted, not
// seconds: for four times the text no reader here takes more than about four times the steps.
import { worstGrowth } from "@svc/steps";
import { expect, test } from "vitest";
import { matchKeyword } from "../src/approvals/keywords.ts";
import { oneLine, quoted } from "../src/approvals/plain-text.ts";
import { bulletOf, headingOf, listOf, markdownLines, optionOf, stepHead } from "../src/library/steps-md.ts";
import { pathFault } from "../src/library/rules.ts";
import { readCondition } from "../src/triggers/condition.ts";
import { cronTimes } from "../src/triggers/cron-time.ts";
import { wholePath } from "../src/triggers/json-path.ts";

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  [
    "lines of SOP.md",
    (text) => markdownLines(text).lines.map((line) => [headingOf(line), stepHead(line), bulletOf(line)]),
  ],
  ["an option of a step", (text) => [optionOf(text), optionOf(`tools: ${text}`)]],
  ["a list", listOf],
  ["a condition", readCondition],
  ["a path in a condition", (text) => readCondition(`$.a${text}`)],
  ["a value in a condition", (text) => readCondition(`$.a.b[0] >= ${text}`)],
  ["a path of JSON", (text) => wholePath(`$.${text}`)],
  ["a cron expression", (text) => cronTimes(text, undefined)],
  ["a path of a trigger", (text) => pathFault(`/${text}`, ["/api/"])],
  ["a reply to a question", (text) => matchKeyword(text, { approveKeywords: ["yes"], rejectKeywords: ["no"] })],
  ["words of others in a question", (text) => [oneLine(text), quoted(text)]],
];

test.each(READERS)("%s", (_name, read) => expect(worstGrowth(read)).toSatisfy(({ times }) => times > 0.5 && times < 6));
