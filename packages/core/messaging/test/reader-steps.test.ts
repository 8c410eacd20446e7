// A text that takes a reader time in proportion to its square stops the one thread that serves everybody. Steps are counted, not
// seconds: for four times the text no reader here takes more than about four times the steps.
import { worstGrowth } from "@svc/steps";
import { expect, test } from "vitest";
import { isMarkerBegun, linesOf } from "../src/outgoing-rows.ts";
import { draftText } from "../src/streaming.ts";
import { Paragraphs } from "../src/paragraphs.ts";

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ["files in an answer", (text) => [linesOf(text), isMarkerBegun(text)]],
  ["a draft", (text) => draftText(text, 20)],
  ["paragraphs", (text) => new Paragraphs().push(`${text}\n\n`, () => {})],
];

test.each(READERS)("%s", (_name, read) => expect(worstGrowth(read)).toSatisfy(({ times }) => times > 0.5 && times < 6));
