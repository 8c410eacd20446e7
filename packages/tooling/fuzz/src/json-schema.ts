/** Values that a JSON schema allows, so that the attacks on a route get past its first check. */
import * as fc from "fast-check";

type Schema = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 6;

/** `root`: where `$ref` points into. Unknown keywords allow any JSON. */
export function jsonOfSchema(schema: unknown, root: unknown, depth = 0): fc.Arbitrary<unknown> {
  if (!isObject(schema) || depth > MAX_DEPTH) return fc.jsonValue();
  const inner = (one: unknown): fc.Arbitrary<unknown> => jsonOfSchema(one, root, depth + 1);
  if (typeof schema["$ref"] === "string") return inner(target(schema["$ref"], root));
  if ("const" in schema) return fc.constant(schema["const"]);
  if (Array.isArray(schema["enum"]) && schema["enum"].length > 0)
    return fc.constantFrom(...(schema["enum"] as unknown[]));
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(choices) && choices.length > 0) return fc.oneof(...choices.map(inner));
  switch (schema["type"]) {
    case "object":
      return objectOf(schema, inner);
    case "array":
      return fc.array(inner(schema["items"]), { minLength: bound(schema["minItems"], 0), maxLength: 5 });
    case "string":
      return fc.string({
        minLength: Math.min(1_000, bound(schema["minLength"], 0)),
        maxLength: bound(schema["maxLength"], 40),
      });
    case "integer":
      return fc.integer({ min: bound(schema["minimum"], -10), max: bound(schema["maximum"], 1_000_000) });
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return fc.jsonValue();
  }
}

function objectOf(schema: Schema, inner: (one: unknown) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const shape = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, inner(one)]));
  return fc.record(shape, { requiredKeys: Object.keys(shape).filter((name) => required.includes(name)) });
}

/** `#/components/schemas/Name` */
function target(reference: string, root: unknown): unknown {
  const names = reference.replace(/^#\//, "").split("/");
  return names.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), root);
}

const bound = (value: unknown, otherwise: number): number =>
  typeof value === "number" && Number.isSafeInteger(value) && Math.abs(value) <= 10_000 ? value : otherwise;

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
