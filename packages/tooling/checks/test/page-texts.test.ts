// A text that stands in a view stays English for ever; a key that one language lacks shows nothing there.
import { expect, test } from "vitest";
import { pageTexts } from "../src/checks/page-texts.ts";
import { judge } from "./judge.ts";

const en = `export const en = {
  "a.title": "Approvals",
  "a.by": "{who} asked {when}",
  "a.runs": { one: "{n} run", other: "{n} runs" },
} as const;`;
const de = `export const de: Messages = {
  "a.title": "Freigaben",
  "a.by": "{who} hat {when} gefragt",
  "a.runs": { one: "{n} Lauf", other: "{n} Läufe" },
};`;
const zh = `export const zh: Messages = {
  "a.title": "审批",
  "a.by": "{who} 于{when}提问",
  "a.runs": { other: "{n} 次运行" },
};`;
const uses = `t("a.title"); rich("a.by", {}); t("a.runs", { n: 1 });`;

const page = (view: string, texts: { en?: string; de?: string; zh?: string } = {}): string[] =>
  judge(pageTexts, {
    "apps/dashboard/src/texts/en.ts": texts.en ?? en,
    "apps/dashboard/src/texts/de.ts": texts.de ?? de,
    "apps/dashboard/src/texts/zh-hans.ts": texts.zh ?? zh,
    "apps/dashboard/src/uses.ts": uses,
    "apps/dashboard/src/views/a.tsx": view,
  }).map((line) => line.replace("apps/dashboard/src/", ""));

test.each([
  [`<p>Nothing is here</p>`, `"Nothing is here"`],
  [`<p>\n  Reads <code>svc status</code>\n</p>`, `"Reads"`],
  [`<p>{"Sent."}</p>`, `"Sent."`],
  [`<p>{isOn ? "on" : undefined}</p>`, `"on"`],
  [`<p>{isOn && \`Since: \${when}\`}</p>`, `"Since:"`],
  [`<button aria-label="Close" />`, `"Close"`],
  [`<button title={isOn ? "Turn off" : t("a.title")} />`, `"Turn off"`],
  [`<input placeholder={\`Search in \${name}\`} />`, `"Search in"`],
  [`<Dialog title="Sure?" />`, `"Sure?"`],
  [`announcer.say("Saved and in force.")`, `"Saved and in force."`],
  [`const HINTS = { read: "May read only" };`, `"May read only"`],
])("finds the text of %s", (code, text) => {
  expect(page(`const view = () => ${code.startsWith("const") ? `0; ${code}` : code};`)).toEqual([
    expect.stringContaining(`${text} is not from the catalogue.`),
  ]);
});

test.each([
  `<p class="hint wide">{t("a.title")} · #{n}</p>`,
  `<Command>svc config set gateway.host</Command>`,
  `<button onClick={() => document.querySelector("main a")} />`,
  `<input placeholder="http://127.0.0.1:8000/v1" />`,
  `name === "not a name" ? undefined : new TypeError("no such thing")`,
])("takes %s for no text", (code) => {
  expect(page(`const view = () => ${code};`)).toEqual([]);
});

test("a key that a language lacks, and one that it has alone", () => {
  expect(page("", { de: de.replace(`"a.title"`, `"a.old"`) })).toEqual([
    "texts/de.ts:0 a.title is missing.",
    "texts/de.ts:2 a.old is not in en.ts.",
  ]);
});

test("other places than the source has", () => {
  expect(page("", { de: de.replace("{who}", "{wer}") })).toEqual([
    "texts/de.ts:3 a.by has {wer} {when}, not {when} {who}.",
  ]);
  expect(page("", { zh: zh.replace("{when}", "") })).toEqual(["texts/zh-hans.ts:3 a.by has {who}, not {when} {who}."]);
});

test("a form that the language tells apart and the catalogue does not", () => {
  expect(page("", { de: de.replace(`one: "{n} Lauf", `, "") })).toEqual([
    "texts/de.ts:4 a.runs has the forms other, not one, other.",
  ]);
  expect(page("", { zh: zh.replace("other:", `one: "{n}", other:`) })).toEqual([
    "texts/zh-hans.ts:4 a.runs has the forms one, other, not other.",
  ]);
});

test("the singular may do without its number", () => {
  expect(page("", { de: de.replace("{n} Lauf", "ein Lauf") })).toEqual([]);
});

test("a key that nothing uses; a beginning uses all that go on from it", () => {
  const more = (text: string): string => text.replace(`"a.title"`, `"word.waiting": "…",\n  "a.title"`);
  const texts = { en: more(en), de: more(de), zh: more(zh) };
  expect(page("", texts)).toEqual(["texts/en.ts:2 Nothing uses word.waiting."]);
  expect(page("const key = `word.${state}`;", texts)).toEqual([]);
});

test("a key of the config without a label or help is told, and fails nothing: its feature may be new", () => {
  const config = "### `gateway.host`\n\nWhere it listens.\n\n- Default: x\n\n### `agents.<name>.model`\n\nIts model.\n";
  const files = {
    "apps/dashboard/src/texts/en.ts": "export const en = {} as const;",
    "docs/reference/config.md": config,
    "apps/dashboard/src/texts/settings/de.ts": `export const de = { labels: { host: "Adresse" }, help: { "Its model.": "Modell." } };`,
  };
  expect(judge(pageTexts, files)).toEqual([
    "apps/dashboard/src/texts/settings/de.ts:0 warning: The setting model has no label.",
    "apps/dashboard/src/texts/settings/de.ts:0 warning: The setting gateway.host has no help.",
  ]);
});
