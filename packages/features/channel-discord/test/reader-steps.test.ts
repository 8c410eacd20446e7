// A text that takes a reader time in proportion to its square stops the one thread that serves everybody. Steps are counted, not
// seconds: for four times the text no reader here takes more than about four times the steps.
import { worstGrowth } from "@svc/steps";
import { expect, test } from "vitest";
import { formatted } from "../src/format.ts";
import { readable } from "../src/message.ts";

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ["an answer", formatted],
  ["a heading", (text) => formatted(`#### ${text}`)],
  ["a picture", (text) => formatted(`![a](https://${text}`)],
  ["what a person wrote", (text) => readable(text, {}, { userId: "1", roleId: undefined })],
];

test.each(READERS)("%s", (_name, read) => expect(worstGrowth(read)).toSatisfy(({ times }) => times > 0.5 && times < 6));
