/** Reads a valibot schema once into plain nodes. Everything that needs to know the keys of the config asks these. */
import type { Json, Marks, NodeType } from "@svc/contract";
import type { GenericSchema } from "valibot";

export interface SchemaNode {
  readonly type: NodeType;
  /** A value must be given: no default, not optional. */
  readonly required: boolean;
  readonly default?: Json;
  readonly description?: string;
  readonly marks: Marks;
  /** Bounds of a number, or of the length of a text or list. */
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly (string | number | boolean)[];
  /** Keys of an object. */
  readonly entries?: ReadonlyMap<string, SchemaNode>;
  /** An object that takes keys besides its own. */
  readonly open?: true;
  /** What a list or record holds. */
  readonly item?: SchemaNode;
  readonly options?: readonly SchemaNode[];
  /** Messages the author wrote down as plain text; only these are ever shown, as valibot's own quote the value. */
  readonly messages: readonly string[];
}

/** What is read from valibot's objects; it types each kind apart, here they are looked at as one. */
interface Piece {
  readonly kind: string;
  readonly type: string;
  readonly message?: unknown;
  readonly requirement?: unknown;
  readonly metadata?: Marks & { readonly description?: unknown };
  readonly description?: string;
  readonly pipe?: readonly [Piece, ...Piece[]];
  readonly wrapped?: Piece;
  readonly default?: unknown;
  readonly entries?: Readonly<Record<string, Piece>>;
  readonly options?: readonly unknown[];
  readonly literal?: unknown;
  readonly enum?: Readonly<Record<string, string | number>>;
  readonly item?: Piece;
  readonly key?: Piece;
  readonly value?: Piece;
}

type Draft = { -readonly [Key in keyof SchemaNode]: SchemaNode[Key] };

const read = new WeakMap<object, SchemaNode>();

/**
 * Throws TypeError for a schema kind it can't see inside (lazy, map, custom …): a secret in there would be shown and
 * logged, so no feature gets away with one.
 */
export function nodeOf(schema: GenericSchema): SchemaNode {
  return nodeOfPiece(schema as unknown as Piece);
}

function nodeOfPiece(piece: Piece): SchemaNode {
  const known = read.get(piece);
  if (known) return known;
  const node = Object.freeze(piece.pipe ? pipeNode(piece.pipe) : bareNode(piece));
  read.set(piece, node);
  return node;
}

function pipeNode([first, ...actions]: readonly [Piece, ...Piece[]]): SchemaNode {
  const node: Draft = { ...nodeOfPiece(first) };
  for (const action of actions) {
    if (action.kind === "schema") {
      const { marks, messages } = nodeOfPiece(action);
      node.marks = { ...node.marks, ...marks };
      node.messages = [...node.messages, ...messages];
    } else {
      if (typeof action.message === "string") node.messages = [...node.messages, action.message];
      readAction(action, node);
    }
  }
  return node;
}

function readAction({ type, requirement, metadata, description }: Piece, node: Draft): void {
  if (type === "integer" || type === "safe_integer") node.type = "integer";
  else if (type === "description" && description !== undefined) node.description = description;
  else if (type === "metadata" && metadata) {
    const { description: text, ...marks } = metadata;
    node.marks = { ...node.marks, ...marks };
    if (typeof text === "string") node.description = text;
  } else if (typeof requirement === "number") {
    if (type === "min_value" || type === "min_length") node.min = requirement;
    if (type === "max_value" || type === "max_length") node.max = requirement;
  } else if (type === "non_empty") node.min = 1;
}

function bareNode(piece: Piece): SchemaNode {
  const base = { required: true, marks: {}, messages: typeof piece.message === "string" ? [piece.message] : [] };
  switch (piece.type) {
    case "string":
    case "number":
    case "boolean":
      return { ...base, type: piece.type };
    case "picklist":
      return { ...base, type: "choice", choices: piece.options as (string | number)[] };
    case "enum":
      return { ...base, type: "choice", choices: Object.values(piece.enum ?? {}) };
    case "literal":
      return { ...base, type: "choice", choices: [piece.literal as string | number | boolean] };
    case "array":
      return { ...base, type: "list", item: nodeOfPiece(piece.item as Piece) };
    case "record":
      return {
        ...base,
        type: "record",
        item: nodeOfPiece(piece.value as Piece),
        // A name that is not allowed is told in the words of the schema of names.
        messages: [...base.messages, ...nodeOfPiece(piece.key as Piece).messages],
      };
    case "strict_object":
    case "object":
    case "loose_object": {
      const entries = new Map<string, SchemaNode>();
      for (const [key, entry] of Object.entries(piece.entries ?? {})) entries.set(key, nodeOfPiece(entry));
      return { ...base, type: "object", entries, ...(piece.type === "loose_object" && { open: true as const }) };
    }
    case "optional":
    case "exact_optional":
    case "nullish":
    case "undefinedable":
      return { ...nodeOfPiece(piece.wrapped as Piece), required: false, ...defaultOf(piece) };
    case "nullable":
    case "non_optional":
    case "non_nullable":
    case "non_nullish":
      return { ...nodeOfPiece(piece.wrapped as Piece), required: true };
    case "union":
    case "variant":
      return { required: true, ...unionOf((piece.options as readonly Piece[]).map(nodeOfPiece)) };
    case "any":
    case "unknown":
      return { ...base, type: "any" };
    default:
      throw new TypeError(`a config schema can't use ${piece.type}: its keys and secrets could not be found`);
  }
}

function defaultOf(piece: Piece): { default?: Json } {
  const value: unknown = typeof piece.default === "function" ? (piece.default as () => unknown)() : piece.default;
  return value === undefined ? {} : { default: value as Json };
}

/** Keys of all options together, so that a key is found, and a secret hidden, whichever option is meant. */
function unionOf(
  options: readonly SchemaNode[],
): Pick<SchemaNode, "type" | "options" | "entries" | "item" | "marks" | "messages"> {
  const entries = new Map<string, SchemaNode>();
  for (const option of options) {
    for (const [key, node] of option.entries ?? []) {
      const other = entries.get(key);
      entries.set(key, other ? { ...node, required: false, marks: { ...other.marks, ...node.marks } } : node);
    }
  }
  const marks: Marks = Object.assign({}, ...options.map((option) => option.marks));
  const item = options.find((option) => option.item)?.item;
  const messages = options.flatMap((option) => option.messages);
  return { type: "union", options, marks, messages, ...(item && { item }), ...(entries.size > 0 && { entries }) };
}

// What a key takes, in words; and an environment variable's text read as that.

/** Completes the sentence "must be …". */
export function expectation(node: SchemaNode): string {
  switch (node.type) {
    case "string":
      return node.min === 1 ? "text, not empty" : "text";
    case "integer":
      return "a whole number";
    case "number":
      return "a number";
    case "boolean":
      return "true or false";
    case "choice":
      return node.choices?.length === 1 ? "the one value allowed" : "one of the values allowed";
    case "list":
      return node.item && node.item.type !== "any" ? `a list, each item ${expectation(node.item)}` : "a list";
    case "object":
    case "record":
      return "a table";
    case "union":
      return [...new Set(node.options?.map(expectation))].join(" or ");
    case "any":
      return "a value";
  }
}

/** Bounds and choices, where the node has any. */
export function allowedValues(node: SchemaNode): string | undefined {
  if (node.choices) return node.choices.map(String).join(", ");
  if (node.type === "list") return node.item && allowedValues(node.item);
  const unit = node.type === "string" ? " characters" : "";
  const { min, max = Number.MAX_SAFE_INTEGER } = node;
  if (max === Number.MAX_SAFE_INTEGER) return min === undefined ? undefined : `${min} or more${unit}`;
  return min === undefined ? `up to ${max}${unit}` : `${min} to ${max}${unit}`;
}

/** Undefined when `text` can't be read as what the node takes. Whether the value is allowed is the schema's to say. */
export function readText(node: SchemaNode, text: string): { value: unknown } | undefined {
  switch (node.type) {
    case "string":
      return { value: text };
    case "integer":
      return /^[+-]?\d{1,16}$/.test(text.trim()) ? { value: Number(text) } : undefined;
    case "number":
      return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text.trim()) ? { value: Number(text) } : undefined;
    case "boolean":
      return readBoolean(text);
    case "choice":
      return { value: node.choices?.find((choice) => String(choice) === text.trim()) ?? text };
    case "list":
      return readList(node, text);
    case "object":
    case "record":
      return readJson(text, (value) => typeof value === "object" && value !== null && !Array.isArray(value));
    case "union":
      return readUnion(node, text);
    case "any":
      return readJson(text, () => true) ?? { value: text };
  }
}

function readBoolean(text: string): { value: boolean } | undefined {
  const word = text.trim().toLowerCase();
  return word === "true" || word === "false" ? { value: word === "true" } : undefined;
}

/** A JSON array, or items between commas; nothing at all is the empty list. */
function readList(node: SchemaNode, text: string): { value: unknown[] } | undefined {
  if (text.trimStart().startsWith("[")) {
    return readJson(text, Array.isArray) as { value: unknown[] } | undefined;
  }
  const items = text.trim() === "" ? [] : text.split(",").map((item) => item.trim());
  const read = items
    .filter((item) => item !== "")
    .map((item) => (node.item ? readText(node.item, item) : { value: item }));
  return read.every((item) => item !== undefined) ? { value: read.map((item) => item.value) } : undefined;
}

/** Strict kinds first: `true` is a boolean before it is text. */
function readUnion(node: SchemaNode, text: string): { value: unknown } | undefined {
  const options = [...(node.options ?? [])].sort((a, b) => Number(a.type === "string") - Number(b.type === "string"));
  for (const option of options) {
    if (option.type === "choice" && !option.choices?.some((choice) => String(choice) === text.trim())) continue;
    const read = readText(option, text);
    if (read) return read;
  }
  return undefined;
}

function readJson(text: string, fits: (value: unknown) => boolean): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return fits(value) ? { value } : undefined;
  } catch {
    return undefined;
  }
}
