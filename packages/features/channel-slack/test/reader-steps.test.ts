// A text that takes a reader time in proportion to its square stops the one thread that serves everybody. Steps are counted, not
// seconds: for four times the text no reader here takes more than about four times the steps.
import { worstGrowth } from "@svc/steps";
import { expect, test } from "vitest";
import { decoded, mentions, withoutMention } from "../src/events.ts";
import { lineOf, plainMrkdwn } from "../src/markdown.ts";

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ["what a person wrote", (text) => decoded(text, () => undefined)],
  ["a mention", (text) => [withoutMention(text, "U1"), mentions(text, "U1")]],
  ["plain text", plainMrkdwn],
  ["a line", (text) => lineOf([{ text, bold: true }, { text }])],
  [
    "a line of many styles",
    (text) =>
      lineOf(
        Array.from(text, (one, at) => ({
          text: one,
          ...(at % 2 === 0 && { bold: true as const }),
          ...(at % 3 === 0 && { italic: true as const }),
        })),
      ),
  ],
];

test.each(READERS)("%s", (_name, read) => expect(worstGrowth(read)).toSatisfy(({ times }) => times > 0.5 && times < 6));
