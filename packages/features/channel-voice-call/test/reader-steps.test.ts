// A text that takes a reader time in proportion to its square stops the one thread that serves everybody. Steps are counted, not
// seconds: for four times the text no reader here takes more than about four times the steps.
import { worstGrowth } from "@svc/steps";
import { expect, test } from "vitest";
import { numberOf, personOf } from "../src/protocol.ts";
import { isSigned } from "../src/webhooks.ts";

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ["the URL that was signed", (text) => isSigned("t", { url: `https://${text}`, form: new Map(), header: "x" })],
  ["a number", (text) => [numberOf(text), personOf(text)]],
];

test.each(READERS)("%s", (_name, read) => expect(worstGrowth(read)).toSatisfy(({ times }) => times > 0.5 && times < 6));
