/**
 * The text of a plugin.toml as plain data. Whoever wrote it may be hostile: what is made of it is built here from the syntax
 * tree, as a parser that makes objects by itself writes into `Object` when a table is called `constructor`.
 */
import { SvcError } from "@svc/contract";
import { type AST, ParseError, parseTOML } from "toml-eslint-parser";

export type FlatTable = Map<string, unknown>;

/** Keys, and one level of tables. Throws PLUGIN_INVALID for what is no TOML, and for anything deeper. */
export function readPluginToml(text: string): FlatTable {
  const root: FlatTable = new Map();
  for (const node of parse(text)) {
    if (node.type === "TOMLKeyValue") {
      set(root, node);
      continue;
    }
    const name = nameOf(node.key);
    if (node.kind === "array" || name === undefined) throw unexpected(node);
    const table: FlatTable = new Map();
    for (const pair of node.body) set(table, pair);
    root.set(name, table);
  }
  return root;
}

function parse(text: string): AST.TOMLTopLevelTable["body"] {
  try {
    return parseTOML(text, { tomlVersion: "1.0" }).body[0].body;
  } catch (cause) {
    const place = cause instanceof ParseError ? `, line ${cause.lineNumber}` : "";
    throw new SvcError("PLUGIN_INVALID", `plugin.toml is not TOML${place}.`, { cause });
  }
}

function set(table: FlatTable, pair: AST.TOMLKeyValue): void {
  const name = nameOf(pair.key);
  if (name === undefined) throw unexpected(pair);
  table.set(name, valueOf(pair.value, pair));
}

/** undefined: several names with dots between. */
function nameOf({ keys: [key, ...others] }: AST.TOMLKey): string | undefined {
  if (key === undefined || others.length > 0) return undefined;
  return key.type === "TOMLBare" ? key.name : key.value;
}

function valueOf(node: AST.TOMLContentNode, pair: AST.TOMLKeyValue): unknown {
  if (node.type === "TOMLValue") return node.value;
  if (node.type === "TOMLInlineTable") throw unexpected(pair);
  return node.elements.map((element) => {
    if (element.type !== "TOMLValue") throw unexpected(pair);
    return element.value;
  });
}

const unexpected = ({ loc }: AST.TOMLNode): SvcError =>
  new SvcError("PLUGIN_INVALID", `plugin.toml, line ${loc.start.line}: nothing of this kind belongs here.`, {
    hint: "It has keys, and one table [limits].",
  });
