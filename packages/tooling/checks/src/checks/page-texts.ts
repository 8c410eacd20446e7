/**
 * What the page shows comes from its catalogue, and each language has all of it. A text that is written into a view stays English for
 * ever; a key that one language lacks shows nothing there.
 */
import { type Source, walk } from "@svc/source";
import type { Node } from "oxc-parser";
import type { Check, Finding } from "../check.ts";

const PAGE = "apps/dashboard/src/";
const TEXTS = `${PAGE}texts/`;
/** The language that the others are translated from. */
const SOURCE = "en";
const CATALOGUE = /^apps\/dashboard\/src\/texts\/([a-z]{2}(?:-[a-z]+)?)\.ts$/;
/** Labels and help of the config's keys, by name and by sentence. */
const SETTINGS = /^apps\/dashboard\/src\/texts\/settings\//;
const CONFIG_PAGE = "docs/reference/config.md";

export const pageTexts: Check = {
  id: "page-texts",
  rule: "Each text of the page comes from the catalogue, which every language has whole.",
  find(workspace) {
    const sources = workspace.sources((file) => file.startsWith(PAGE));
    const catalogues = sources.flatMap(catalogueOf);
    const pages = sources.filter(({ file }) => !CATALOGUE.test(file) && !SETTINGS.test(file));
    const source = catalogues.find(({ language }) => language === SOURCE);
    if (source === undefined) return [];
    const others = catalogues.filter((one) => one !== source);
    return [
      ...formsOf(source),
      ...others.flatMap((other) => [...formsOf(other), ...compare(source, other)]),
      ...unused(source, pages),
      ...sources
        .filter(({ file }) => SETTINGS.test(file))
        .flatMap((one) => labelsOf(one, workspace.files.get(CONFIG_PAGE) ?? "")),
      ...pages.flatMap(literalsOf),
    ];
  },
};

interface Entry {
  readonly line: number;
  /** By category of the plural rules; a text that counts nothing has `other` alone. */
  readonly forms: ReadonlyMap<string, string>;
  readonly isCounted: boolean;
}

interface Catalogue {
  readonly file: string;
  readonly language: string;
  readonly entries: ReadonlyMap<string, Entry>;
}

function catalogueOf({ file, program, lineOf }: Source): Catalogue[] {
  const language = CATALOGUE.exec(file)?.[1];
  if (language === undefined) return [];
  const entries = new Map<string, Entry>();
  walk(program, (node, parents) => {
    if (node.type !== "Property" || parents.filter(({ type }) => type === "ObjectExpression").length !== 1) return;
    const forms = new Map<string, string>();
    const isCounted = node.value.type === "ObjectExpression";
    if (node.value.type === "ObjectExpression") {
      for (const form of node.value.properties)
        if (form.type === "Property") setText(forms, nameOf(form.key), form.value);
    } else setText(forms, "other", node.value);
    entries.set(nameOf(node.key), { line: lineOf(node.start), forms, isCounted });
  });
  return [{ file, language, entries }];
}

function setText(forms: Map<string, string>, name: string, value: Node): void {
  if (value.type === "Literal" && typeof value.value === "string") forms.set(name, value.value);
}

const nameOf = (key: Node): string =>
  key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : "";

/** A text that counts has the forms that its language tells apart, and no others. */
function formsOf({ file, language, entries }: Catalogue): Finding[] {
  const wanted = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted().join(", ");
  return [...entries].flatMap(([key, { line, forms, isCounted }]) => {
    const has = [...forms.keys()].toSorted().join(", ");
    if (!isCounted || has === wanted) return [];
    return [
      { file, line, message: `${key} has the forms ${has}, not ${wanted}.`, fix: "Write each form of the language." },
    ];
  });
}

function compare(source: Catalogue, { file, entries }: Catalogue): Finding[] {
  const missing = [...source.entries.keys()].filter((key) => !entries.has(key));
  return [
    ...missing.map((key) => ({ file, message: `${key} is missing.`, fix: "Translate it." })),
    ...[...entries].flatMap(([key, entry]) => {
      const original = source.entries.get(key);
      if (original === undefined)
        return [{ file, line: entry.line, message: `${key} is not in ${SOURCE}.ts.`, fix: "Remove it." }];
      return differences(key, original, entry).map((message) => ({
        file,
        line: entry.line,
        message,
        fix: `Compare it with ${SOURCE}.ts.`,
      }));
    }),
  ];
}

function differences(key: string, original: Entry, entry: Entry): string[] {
  if (original.isCounted !== entry.isCounted) return [`${key} counts in one language only.`];
  const wanted = placesOf(original.forms.get("other"));
  const wrong = [...entry.forms].filter(([form, text]) => {
    const has = placesOf(text);
    // "One file" needs no number.
    return has !== wanted && !(form === "one" && has === wanted.replace(/\{n\} ?/, "").trim());
  });
  return wrong.map(([, text]) => `${key} has ${placesOf(text) || "no places"}, not ${wanted || "none"}.`);
}

/** `{name} {when}`, in the order of the alphabet. */
const placesOf = (text = ""): string => [...new Set(text.match(/\{\w+\}/g) ?? [])].toSorted().join(" ");

/** A key stands whole in the code, or is the rest of one that begins there: `word.${state}`. */
function unused({ file, entries }: Catalogue, pages: readonly Source[]): Finding[] {
  const whole = new Set<string>();
  const beginnings = new Set<string>();
  for (const { program } of pages) {
    walk(program, (node) => {
      if (node.type === "Literal" && typeof node.value === "string") whole.add(node.value);
      if (node.type !== "TemplateLiteral") return;
      const [first = ""] = node.quasis.map(({ value }) => value.raw);
      if (/^[a-z-]+\.$/.test(first)) beginnings.add(first);
    });
  }
  return [...entries]
    .filter(([key]) => !whole.has(key) && ![...beginnings].some((beginning) => key.startsWith(beginning)))
    .map(([key, { line }]) => ({ file, line, message: `Nothing uses ${key}.`, fix: "Remove it from every language." }));
}

/** A feature may add its own keys, whose labels and help are English until they are translated: a warning. */
function labelsOf({ file, program }: Source, page: string): Finding[] {
  const named = new Set<string>();
  walk(program, (node) => {
    if (node.type === "Property") named.add(nameOf(node.key));
  });
  const keys = new Set([...page.matchAll(/^### `(?:[\w.<>"[\]-]*\.)?(\w+)`$/gm)].map(([, key = ""]) => key));
  const help = new Map([...page.matchAll(/^### `(.+)`\n\n(?!- |#)(.+)$/gm)].map(([, key, text]) => [text!, key!]));
  return [
    ...[...keys].filter((key) => !named.has(key)).map((key) => `The setting ${key} has no label.`),
    ...[...help].filter(([text]) => !named.has(text)).map(([, key]) => `The setting ${key} has no help.`),
  ].map((message) => ({ file, warning: true, message, fix: "Translate it." }));
}

/** Attributes and properties of components that hold a text for a person. */
const TEXT_ATTRIBUTES = new Set(
  "aria-label aria-description title placeholder alt label text question action dismiss what hint help writer".split(
    " ",
  ),
);
/** What stands in them is typed, not read. */
const CODE = new Set(["code", "kbd", "Command"]);
const LETTERS = /\p{L}{2}/u;
/** Words one after the other: no key, no class, no selector. */
const SENTENCE = /\p{L}[\p{Ll}']+[,.:;]? [\p{L}(#]/u;

function literalsOf({ file, program, lineOf }: Source): Finding[] {
  const found: Finding[] = [];
  walk(program, (node, parents) => {
    const text = textOf(node);
    if (text === undefined || !isShown(node, text, parents)) return;
    const short = text.trim().replaceAll(/\s+/g, " ").slice(0, 40);
    found.push({
      file,
      line: lineOf(node.start),
      message: `"${short}" is not from the catalogue.`,
      fix: `Put it into ${TEXTS}${SOURCE}.ts and its translations beside it, and write t("…") here.`,
    });
  });
  return found;
}

function textOf(node: Node): string | undefined {
  if (node.type === "JSXText") return node.value;
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  return node.type === "TemplateLiteral"
    ? node.quasis
        .map(({ value }) => value.raw)
        .join(" ")
        .trim()
    : undefined;
}

function isShown(node: Node, text: string, parents: readonly Node[]): boolean {
  if (!LETTERS.test(text)) return false;
  const element = parents.findLast(({ type }) => type === "JSXElement");
  if (element !== undefined && CODE.has(tagOf(element))) return false;
  if (node.type === "JSXText") return true;
  const shownBy = placeOf(node, parents);
  if (shownBy?.type === "JSXAttribute") return TEXT_ATTRIBUTES.has(attributeName(shownBy)) && !isAddress(text);
  if (shownBy !== undefined) return true;
  return SENTENCE.test(text) && !text.startsWith("svc ") && !isCode(parents, node);
}

/** The attribute or element whose value it may be: `title="…"`, `{isOn ? "…" : …}`, `{isOn && "…"}`. */
function placeOf(node: Node, parents: readonly Node[]): Node | undefined {
  let child = node;
  for (const parent of parents.toReversed()) {
    const isValue =
      parent.type === "LogicalExpression" ||
      parent.type === "JSXExpressionContainer" ||
      (parent.type === "ConditionalExpression" && parent.test !== child);
    if (!isValue) return parent.type.startsWith("JSX") ? parent : undefined;
    child = parent;
  }
  return undefined;
}

const tagOf = (node: Node): string =>
  node.type === "JSXElement" && node.openingElement.name.type === "JSXIdentifier" ? node.openingElement.name.name : "";

const attributeName = (node: Node): string =>
  node.type === "JSXAttribute" && node.name.type === "JSXIdentifier" ? node.name.name : "";

const isAddress = (text: string): boolean => /^https?:\/\//.test(text);

/** Words for a machine: names of classes, commands, what a programmer reads of a fault. */
function isCode(parents: readonly Node[], node: Node): boolean {
  return parents.some((each, depth) => {
    const child = parents[depth + 1] ?? node;
    switch (each.type) {
      case "JSXAttribute":
        return !TEXT_ATTRIBUTES.has(attributeName(each)) && !attributeName(each).startsWith("on");
      case "Property":
        return each.key === child || /^(?:command|keys)$/.test(nameOf(each.key));
      case "BinaryExpression":
        return ["===", "!==", "in"].includes(each.operator);
      case "CallExpression":
        return each.callee.type === "MemberExpression" && each.callee.property.type === "Identifier"
          ? /^(?:querySelector(?:All)?|closest|matchMedia|split)$/.test(each.callee.property.name)
          : each.callee.type === "Identifier" && /^(?:useReader|useMedia)$/.test(each.callee.name);
      case "NewExpression":
        return each.callee.type === "Identifier" && /^(?:Error|TypeError)$/.test(each.callee.name);
      case "ImportDeclaration":
      case "SwitchCase":
      case "TSLiteralType":
      case "TaggedTemplateExpression":
        return true;
      default:
        return false;
    }
  });
}
