/** Pieces of schemas that many messages are made of, and the type that a schema describes. */
import { integer, type Json } from "@svc/contract";
import * as v from "valibot";

/** What a schema describes. Read-only: a message is made once and passed on. */
export type Output<Schema extends v.GenericSchema> = ReadonlyDeep<v.InferOutput<Schema>>;

type ReadonlyDeep<T> = Json extends T
  ? T
  : T extends readonly (infer Item)[]
    ? readonly ReadonlyDeep<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
      : T;

/** A part of an answer that the document does not describe, and that has a type all the same. */
export const undescribed = <T extends Json>(): v.GenericSchema<T> => v.any();

/** Any JSON. */
export const anyJson = undescribed<Json>();

/** Schemas of strings by name: query parameters or headers. `v.optional`: the parameter may be missing. */
export type ParameterSchemas = Readonly<Record<string, v.GenericSchema>>;

/** What the schemas make of the parameters they name. */
export type ParametersOutput<Schemas extends ParameterSchemas> = {
  readonly [Name in keyof Schemas]: v.InferOutput<Schemas[Name]>;
};

export const name = (description: string) => v.pipe(v.string(), v.description(description));

export const time = (description = "UTC.") => v.pipe(v.string(), v.isoTimestamp(), v.description(description));

export const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

export const limit = (what: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,3}$/),
      v.transform(Number),
      integer(1, MAX_LIMIT),
      v.description(`1 to ${MAX_LIMIT}: how many ${what}; ${DEFAULT_LIMIT} when left out`),
    ),
  );

/** The number that a page ended with. */
export const before = () =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,15}$/),
      v.transform(Number),
      integer(0),
      v.description("the cursor of a page that was read before"),
    ),
  );

/** The cursor of the next page. */
export const cursor = (what: string) =>
  v.pipe(v.nullable(integer(1)), v.description(`Cursor of the ${what} before these; null: no more.`));

/** Completes "… must be …". */
export const oneOf = <const Options extends readonly string[]>(options: Options) =>
  v.optional(v.pipe(v.picklist(options), v.description(options.join(", ").replace(/, (?=[^,]*$)/, " or "))));

/** A parameter that filters, such as a channel's id. */
export const filter = (description: string, maxChars: number) =>
  v.optional(v.pipe(v.string(), v.maxLength(maxChars), v.description(description)));
