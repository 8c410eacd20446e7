/** JSON Schema as a person reads it: the notation of TypeScript, with what a key means behind it. */

/** The parts of JSON Schema that the document of the routes uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** The language of a block with a shape: the site colours it as TypeScript, and the formatter leaves it as it is. */
export const SHAPE = "shape";

/** Of several lines where it has keys. */
export function shapeOf(schema: Schema, indent = ""): string {
  const { $ref, type, properties, additionalProperties, items } = schema;
  const choices = schema.anyOf ?? schema.oneOf;
  if ($ref !== undefined) return $ref.split("/").at(-1) ?? $ref;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (choices) return [...new Set(choices.map((choice) => shapeOf(choice, indent)))].join(" | ");
  if (type === "array") return `${isUnion(items) ? `(${shapeOf(items, indent)})` : shapeOf(items ?? {}, indent)}[]`;
  if (properties || (type === "object" && additionalProperties)) return objectShape(schema, indent);
  return type === "integer" ? "number" : (type ?? "any");
}

const isUnion = (schema: Schema | undefined): schema is Schema =>
  (schema?.anyOf ?? schema?.oneOf ?? schema?.enum ?? []).length > 1;

function objectShape({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, schema]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return withNote(`${inner}${key}${required.includes(name) ? "" : "?"}: ${shapeOf(schema, inner)}`, noteOf(schema));
  });
  if (typeof additionalProperties === "object") {
    lines.push(withNote(`${inner}[name]: ${shapeOf(additionalProperties, inner)}`, noteOf(additionalProperties)));
  }
  return lines.length === 0 ? "{}" : `{\n${lines.join("\n")}\n${indent}}`;
}

const withNote = (line: string, note: string): string => (note === "" ? line : `${line} // ${note}`);

/** Meaning and limits, which the type does not show. */
export function noteOf({ description, format, minimum, maximum, minLength, maxLength }: Schema): string {
  const notes = [description, format, range(minimum, maximum, ""), range(minLength, maxLength, " characters")].filter(
    (note) => note !== undefined,
  );
  return notes.join(" ").replaceAll("\n", " ");
}

function range(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  const top = most === Number.MAX_SAFE_INTEGER ? undefined : most;
  if (top !== undefined) return least === undefined ? `At most ${top}${unit}.` : `${least} to ${top}${unit}.`;
  return least === undefined || least === 0 ? undefined : `At least ${least}${unit}.`;
}
