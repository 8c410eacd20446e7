// A text that takes a reader time in proportion to its square stops the one thread that serves everybody. Steps are counted, not
// seconds: for four times the text no reader here takes more than about four times the steps.
import { parse } from "@iarna/toml";
import { worstGrowth } from "@svc/steps";
import { expect, test } from "vitest";
import { readKey } from "../src/key-text.ts";
import { readPlaces } from "../src/toml-places.ts";
import { createRedactor } from "../src/secrets/redact.ts";

const redactor = createRedactor(["s3cret-s3cret"]);

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ["a key of the config", readKey],
  ["a key of the config in quotes", (text) => readKey(`a."${text}`)],
  ...['a = "', 'a = """', "a = [", "a = ", "[", "#"].flatMap((beginning) => [
    [`TOML, ${beginning}`, (text: string) => parse(beginning + text)] as const,
    [`TOML with its places, ${beginning}`, (text: string) => readPlaces(beginning + text)] as const,
  ]),
  ["TOML of many keys", (text) => parse(Array.from(text, (_, at) => `k${at} = 1`).join("\n"))],
  ["a line of the log", redactor.redact],
  ["the end of a text that comes in pieces", redactor.partial],
];

test.each(READERS)("%s", (_name, read) => expect(worstGrowth(read)).toSatisfy(({ times }) => times > 0.5 && times < 6));
