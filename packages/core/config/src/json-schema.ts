/** The JSON Schema of the whole file, for editors: `#:schema ./config.schema.json` on the first line. */
import type { FeatureDefinition, Marks } from "@svc/contract";
import type { ConversionConfig, JsonSchema } from "@valibot/to-json-schema";
import { type Section, sectionsOf } from "./sections.ts";

interface TableSchema {
  type: "object";
  properties: Record<string, JsonSchema>;
  required?: string[];
  /** What stands under any other name, in a record. */
  additionalProperties: JsonSchema | false;
  propertyNames?: JsonSchema;
}

/** Draft 7, the newest that TOML editors understand. The library is loaded by whoever asks. */
export async function configJsonSchema(features: readonly FeatureDefinition[]): Promise<object> {
  const { toJsonSchema } = await import("@valibot/to-json-schema");
  const root = tableSchema();
  for (const section of sectionsOf(features).values()) {
    let holder = root;
    for (const name of section.path) holder = (holder.properties[name] ??= tableSchema()) as TableSchema;
    const parts = section.parts.map((part) => toJsonSchema(part.schema, CONVERSION) as Partial<TableSchema>);
    for (const [index, part] of parts.entries()) {
      Object.assign(holder.properties, part.properties);
      if (section.parts[index]?.item) holder.additionalProperties = part.additionalProperties ?? false;
      if (part.propertyNames) holder.propertyNames = part.propertyNames;
    }
    const required = requiredKeys(section, parts);
    if (required.length > 0) holder.required = required;
  }
  return { $schema: "http://json-schema.org/draft-07/schema#", title: "Configuration of svc", ...root };
}

const tableSchema = (): TableSchema => ({ type: "object", properties: {}, additionalProperties: false });

/** Only the owner's: an extension's keys are not missed until one is set. None that the environment can supply. */
function requiredKeys(section: Section, [owner]: readonly Partial<TableSchema>[]): string[] {
  return (owner?.required ?? []).filter((name) => section.entries.get(name)?.marks.env === undefined);
}

const CONVERSION: ConversionConfig = {
  target: "draft-07",
  typeMode: "input",
  // Checks written as code have no place in JSON Schema; the loader still makes them.
  errorMode: "ignore",
  overrideAction: ({ valibotAction, jsonSchema }) => {
    const { secret, ask, env, restart } = markOf(valibotAction);
    if ([secret, ask, env, restart].every((mark) => mark === undefined)) return undefined;
    const {
      secret: _s,
      generate: _g,
      ask: _a,
      highValue: _h,
      env: _e,
      envMode: _m,
      restart: _r,
      ...plain
    } = jsonSchema as Marked;
    const comments = [
      ...(env === undefined ? [] : [`Also from the environment: ${env}`]),
      ...(restart ? ["A change is in force after a restart."] : []),
    ];
    return {
      ...plain,
      ...(secret && { writeOnly: true, format: "password" }),
      ...(comments.length > 0 && { $comment: comments.join(" ") }),
    };
  },
};

type Marked = JsonSchema & Marks;

const markOf = (action: { type: string; metadata?: Marks }): Marks =>
  action.type === "metadata" ? (action.metadata ?? {}) : {};
