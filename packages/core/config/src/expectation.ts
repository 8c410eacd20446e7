/** What a key takes, in words; and an environment variable's text read as that. */
import type { SchemaNode } from "./schema-node.ts";

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
