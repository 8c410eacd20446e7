/** Syntax colours by lowlight: grammars of highlight.js with a tree as result, never HTML. Loaded with the first code block. */
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import php from "highlight.js/lib/languages/php";
import powershell from "highlight.js/lib/languages/powershell";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

/** Pieces of the text, in order; together they are the text. */
export interface Piece {
  readonly text: string;
  /** One of a few kinds that have a colour; undefined: plain. */
  readonly kind: Kind | undefined;
}

type Kind = "comment" | "string" | "number" | "keyword" | "name" | "added" | "removed";

const library = createLowlight({
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  makefile,
  php,
  powershell,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
});
library.registerAlias({ bash: ["console", "shellsession"], javascript: ["jsonc"] });

/** By the scope of highlight.js, without the part after its first dot. */
const KINDS: Readonly<Record<string, Kind>> = {
  comment: "comment",
  quote: "comment",
  doctag: "comment",
  meta: "comment",
  string: "string",
  regexp: "string",
  char: "string",
  link: "string",
  number: "number",
  literal: "number",
  symbol: "number",
  keyword: "keyword",
  "selector-tag": "keyword",
  tag: "keyword",
  built_in: "name",
  type: "name",
  title: "name",
  attr: "name",
  attribute: "name",
  property: "name",
  section: "name",
  name: "name",
  variable: "name",
  "template-variable": "name",
  "selector-class": "name",
  "selector-id": "name",
  addition: "added",
  deletion: "removed",
};

/** Undefined: the language is not known, or the text is too much for its grammar. */
export function highlighted(text: string, language: string): readonly Piece[] | undefined {
  if (!library.registered(language)) return undefined;
  try {
    const pieces = [...piecesOf(library.highlight(language, text).children, undefined)];
    // Colours must never change the text that is read and copied.
    return pieces.map((piece) => piece.text).join("") === text ? pieces : undefined;
  } catch {
    return undefined;
  }
}

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly className?: unknown };
  readonly children?: readonly unknown[];
}

function* piecesOf(nodes: readonly unknown[], kind: Kind | undefined): Generator<Piece> {
  for (const node of nodes as readonly Node[]) {
    if (node.type === "text") yield { text: node.value ?? "", kind };
    else yield* piecesOf(node.children ?? [], kindOf(node) ?? kind);
  }
}

function kindOf({ properties }: Node): Kind | undefined {
  const names = Array.isArray(properties?.className) ? (properties.className as readonly unknown[]) : [];
  for (const name of names) {
    const scope = /^hljs-([a-z_-]+?)_?$/.exec(String(name))?.[1];
    if (scope !== undefined && Object.hasOwn(KINDS, scope)) return KINDS[scope];
  }
  return undefined;
}
