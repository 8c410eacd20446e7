// A text that takes a reader time in proportion to its square stops the one thread that serves everybody. Steps are counted, not
// seconds: for four times the text no reader here takes more than about four times the steps.
import { worstGrowth } from "@svc/steps";
import { expect, test } from "vitest";
import { knownRefusal } from "../src/bot-api.ts";
import { htmlOf } from "../src/format.ts";
import { commandOf } from "../src/message.ts";

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ["HTML", (text) => htmlOf([text, { kind: "link", href: text, children: [text] }])],
  ["a refusal", (text) => knownRefusal(`CHAT_SEND_${text}`)],
  ["a command", (text) => commandOf(`/${text}`, { id: 1, username: "bot" } as Parameters<typeof commandOf>[1])],
];

test.each(READERS)("%s", (_name, read) => expect(worstGrowth(read)).toSatisfy(({ times }) => times > 0.5 && times < 6));
