// A key or a code that the guide names and the code does not know is looked for, and not found, by whoever needs it most.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ERRORS } from "@svc/contract";
import { walkSchema } from "@svc/config";
import { expect, test } from "vitest";
import { readCommands } from "../src/code/commands.ts";
import { readFeatures } from "../src/code/features.ts";
import { markdownLines } from "../src/markdown.ts";
import { GUIDE } from "../src/site/guide.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const folder = join(ROOT, "docs/guide");
const keys = walkSchema(await readFeatures(ROOT)).map(({ key }) => key.split("."));
const sections = new Set(keys.map(([first]) => first));

/** What the running text has in backquotes. */
const spans = readdirSync(folder).flatMap((file) =>
  markdownLines(readFileSync(join(folder, file), "utf8"))
    .filter(({ fence }) => fence === undefined)
    .flatMap(({ text, line }) =>
      [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => ({ name, at: `${file}:${line}` })),
    ),
);

/** The names among them that have this form, and those of them that are unknown. */
function names(
  form: RegExp,
  isKnown: (name: string) => boolean,
): { readonly count: number; readonly unknown: string[] } {
  const named = spans.filter(({ name }) => form.test(name));
  return {
    count: named.length,
    unknown: named.filter(({ name }) => !isKnown(name)).map(({ name, at }) => `${at} ${name}`),
  };
}

test("every page of the guide is in its list, and the other way round", () => {
  expect(readdirSync(folder).toSorted()).toEqual(GUIDE.map(({ page }) => `${page}.md`).toSorted());
});

test("every page says first what its reader will have at the end", () => {
  const starts = GUIDE.map(({ page }) => readFileSync(join(folder, `${page}.md`), "utf8").split("\n")[2]);
  expect(starts.filter((start) => !start?.startsWith("At the end of this page "))).toEqual([]);
});

test("every key of the config that is named exists", () => {
  const form = new RegExp(`^(?:${[...sections].join("|")})(?:\\.[a-z_]+)+$(?<!example.org)`);
  const { count, unknown } = names(form, (name) => {
    const path = name.split(".");
    return keys.some((key) => path.every((part, index) => key[index] === part || key[index] === "*"));
  });
  expect(count).toBeGreaterThan(15);
  expect(unknown).toEqual([]);
});

test("every error code that is named exists", () => {
  const { count, unknown } = names(/^(?!SVC_)[A-Z]+(?:_[A-Z]+)+$/, (name) => Object.hasOwn(ERRORS, name));
  expect(count).toBeGreaterThan(30);
  expect(unknown).toEqual([]);
});

test("every option that is named exists", async () => {
  const options = (await readCommands(ROOT)).flatMap((command) => command.options);
  // The last ones are of setup.sh and the composer.
  const known = new Set([...options.flatMap(([flags]) => flags.match(/--?[a-z-]+/g) ?? []), "--with", "--without"]);
  const { count, unknown } = names(/^--?[a-z][a-z-]*$/, (name) => known.has(name));
  expect(count).toBeGreaterThan(5);
  expect(unknown).toEqual([]);
});
