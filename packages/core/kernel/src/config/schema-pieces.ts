/** Values as core's sections write them: with a description, and a default where there is one. */
import { integer } from "@svc/contract";
import * as v from "valibot";

export const text = (description: string) => v.pipe(v.string(), v.description(description));
export const flag = (value: boolean, description: string) =>
  v.optional(v.pipe(v.boolean(), v.description(description)), value);
export const count = (value: number, min: number, max: number, description: string) =>
  v.optional(v.pipe(integer(min, max), v.description(description)), value);
export const list = (description: string) => v.optional(v.pipe(v.array(v.string()), v.description(description)), []);
