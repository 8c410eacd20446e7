/** Where keys and values stand in the file. Loaded only when there is something to complain about, or to change. */
import { type AST, ParseError, parseTOML } from "toml-eslint-parser";
import { checkDepth, emptyTable, type Path, type Table } from "./table.ts";

export interface Place {
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

export interface Places {
  readonly table: Table;
  /** Of the key or value, or of the nearest table around it that is there. */
  placeOf(path: Path, at: "key" | "value"): Place | undefined;
  /** What a value takes up of the text; undefined for a table that has a header, or no value at all. */
  rangeOf(path: Path): readonly [start: number, end: number] | undefined;
}

/** Throws ParseError for what is not TOML. */
export const parseTree = (text: string): AST.TOMLTopLevelTable => parseTOML(text, { tomlVersion: "1.0" }).body[0];

/** Throws ParseError for what is not TOML, and RangeError for what is nested too deeply. */
export function readPlaces(text: string): Places {
  const reading = new Reading();
  for (const node of parseTree(text).body) {
    if (node.type === "TOMLTable") reading.table(node);
    else reading.pair(node, [], reading.root);
  }
  return {
    table: reading.root,
    placeOf: (path, at) => reading.placeOf(path, at),
    rangeOf: (path) => reading.rangeOf(path),
  };
}

export function syntaxFault(text: string): (Place & { cause: string }) | undefined {
  try {
    readPlaces(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof ParseError)) return undefined;
    return { line: error.lineNumber, column: error.column + 1, cause: error.message };
  }
}

/** Each place is kept by its whole path: `a.a.a…` of some kilobytes would take all memory, so the depth is checked. */
class Reading {
  readonly root: Table = emptyTable();
  readonly #keys = new Map<string, Place>();
  readonly #values = new Map<string, AST.TOMLContentNode>();

  rangeOf(path: Path): readonly [number, number] | undefined {
    return this.#values.get(idOf(path))?.range;
  }

  placeOf(path: Path, at: "key" | "value"): Place | undefined {
    const exact = at === "value" ? this.#values.get(idOf(path)) : undefined;
    if (exact) return placeAt(exact);
    for (let length = path.length; length > 0; length -= 1) {
      const place = this.#keys.get(idOf(path.slice(0, length)));
      if (place) return place;
    }
    return undefined;
  }

  table(node: AST.TOMLTable): void {
    let named = 0;
    let holder: unknown = this.root;
    node.resolvedKey.forEach((name, depth) => {
      const key = node.key.keys[typeof name === "number" ? named - 1 : named];
      if (typeof name === "string") named += 1;
      if (key) this.#note(node.resolvedKey.slice(0, depth + 1), key);
      holder = below(holder as Table, name, typeof node.resolvedKey[depth + 1] === "number");
    });
    for (const pair of node.body) this.pair(pair, node.resolvedKey, holder as Table);
  }

  pair(node: AST.TOMLKeyValue, base: Path, holder: Table): void {
    const path = [...base];
    let target = holder;
    node.key.keys.forEach((key, depth) => {
      if (depth > 0) target = below(target, path.at(-1) as string, false) as Table;
      path.push(nameOf(key));
      this.#note(path, key);
    });
    target[path.at(-1) as string] = this.#value(node.value, path);
  }

  #value(node: AST.TOMLContentNode, path: Path): unknown {
    checkDepth(path.length);
    this.#values.set(idOf(path), node);
    if (node.type === "TOMLArray") {
      return node.elements.map((element, index) => {
        this.#keys.set(idOf([...path, index]), placeAt(element));
        return this.#value(element, [...path, index]);
      });
    }
    if (node.type === "TOMLInlineTable") {
      const table = emptyTable();
      for (const pair of node.body) this.pair(pair, path, table);
      return table;
    }
    return node.value;
  }

  /** The first mention counts: `[a.b]` is the place of `a` until `[a]` has one of its own. */
  #note(path: Path, node: AST.TOMLBare | AST.TOMLQuoted): void {
    checkDepth(path.length);
    const id = idOf(path);
    if (!this.#keys.has(id)) this.#keys.set(id, placeAt(node));
  }
}

export const nameOf = (key: AST.TOMLBare | AST.TOMLQuoted): string => (key.type === "TOMLBare" ? key.name : key.value);

const idOf = (path: Path): string => JSON.stringify(path);
const placeAt = ({ loc }: AST.TOMLNode): Place => ({ line: loc.start.line, column: loc.start.column + 1 });

function below(holder: Table, name: string | number, list: boolean): unknown {
  return (holder[name] ??= list ? [] : emptyTable());
}
