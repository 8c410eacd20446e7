/**
 * Arguments of a step without a model. A text that is exactly a path (`$`, `$.issue.number`, `$[0]`) stands for that part
 * of the step's input, as the JSON value it is. Nothing is ever put into a longer text: what somebody sends must not
 * become a piece of a command. A text that is to stay `$.a` is written `$$.a`.
 */
import { type Json, SvcError } from "@svc/contract";
import { type JsonPath, valueAt, wholePath } from "../triggers/json-path.ts";

type Args = { readonly [name: string]: unknown };

/** Throws SOP_STEP_FAILED when the input has no such part; `args` has been checked when it was loaded. */
export function fillArgs(args: Args, input: Json): { readonly [name: string]: Json } {
  return filled(args, input, "args") as { readonly [name: string]: Json };
}

function filled(value: unknown, input: Json, place: string): Json {
  if (typeof value === "string") return filledText(value, input, place);
  if (Array.isArray(value)) return value.map((item, index) => filled(item, input, `${place}[${index}]`));
  if (typeof value !== "object" || value === null) return value as Json;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, filled(inner, input, `${place}.${name}`)]),
  );
}

function filledText(text: string, input: Json, place: string): Json {
  const path = wholePath(text);
  if (!path) return text.startsWith("$$") && wholePath(text.slice(1)) ? text.slice(1) : text;
  const value = valueAt(input, path);
  if (value === undefined) throw new SvcError("SOP_STEP_FAILED", `${place}: the step's input has no ${text}.`);
  return value as Json;
}

/** Where in the arguments a part of the input goes, e.g. `["headers", "x"]`. */
export function referencesIn(args: Args): JsonPath[] {
  const found: JsonPath[] = [];
  const look = (value: unknown, place: JsonPath): void => {
    if (typeof value === "string") {
      if (wholePath(value)) found.push(place);
    } else if (Array.isArray(value)) value.forEach((item, index) => look(item, [...place, index]));
    else if (typeof value === "object" && value !== null) {
      for (const [name, inner] of Object.entries(value)) look(inner, [...place, name]);
    }
  };
  look(args, []);
  return found;
}
