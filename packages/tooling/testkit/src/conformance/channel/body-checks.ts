/** Bodies that say something else than the platform's documents: JSON, or forms where the platform posts forms. */
import type { Json, SampleDelivery } from "@svc/contract";
import * as fc from "fast-check";
import { type Check, demand } from "../../check.ts";
import { countOf, type Endpoint } from "./delivered.ts";
import { alteredForm, everyAlteredForm } from "./hostile-form.ts";
import { alteredJson, anyJson, everyAlteration, holds } from "./hostile-json.ts";
import { demandSound, parsedOf } from "./parsed.ts";

type MakeCheck = (name: string, run: (endpoint: Endpoint) => void) => Check;

export const jsonBodyChecks = (check: MakeCheck): Check[] => [
  check("JSON of an unknown shape holds no messages", (endpoint) => {
    for (const text of ["{}", "[]", "null", "true", "0", '""', '{"a":[{"b":null}]}', '[[{"text":"x"}]]']) {
      const parsed = parsedOf(endpoint, endpoint.signed(text));
      demand(parsed !== undefined, `${text} is BAD_JSON`);
      demand(countOf(parsed) === 0, `there is a message in ${text}`);
    }
  }),
  check("what is no JSON, no UTF-8 or nested too deeply is BAD_JSON", (endpoint) => {
    const { body } = endpoint.genuine();
    const half = body.subarray(0, Math.floor(body.length / 2));
    const twice = Buffer.concat([body, body]);
    const notUtf8 = Buffer.concat([Buffer.from('{"a":"'), Buffer.of(0xff, 0xfe), Buffer.from('"}')]);
    const deep = Buffer.from("[".repeat(100_000));
    const nested = Buffer.from(`${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`);
    for (const bytes of [Buffer.from(""), Buffer.from("not json"), half, twice, notUtf8, deep, nested]) {
      demand(
        parsedOf(endpoint, endpoint.signed(bytes)) === undefined,
        `${bytes.length} bytes that are no JSON are parsed`,
      );
    }
  }),
  check("whatever JSON comes, parse does not fail, and what it finds is sound", (endpoint) => {
    const genuine = jsonOf(endpoint.genuine());
    const hostile = genuine === undefined ? anyJson : fc.oneof(anyJson, { arbitrary: alteredJson(genuine), weight: 4 });
    const tryOut = (json: unknown): void => {
      const parsed = parsedOf(endpoint, endpoint.signed(JSON.stringify(json)));
      if (parsed !== undefined) demandSound(endpoint, parsed);
    };
    if (genuine !== undefined) everyAlteration(genuine).forEach(tryOut);
    holds(fc.property(hostile, tryOut), 300);
  }),
];

export const formBodyChecks = (check: MakeCheck): Check[] => [
  check("a form of an unknown shape holds no messages", (endpoint) => {
    for (const text of ["", "a", "a=b", "=", "&&&", "%", "%ff=%00", "{}", "[]", "null", "a=b&a=c"]) {
      const parsed = parsedOf(endpoint, endpoint.signed(text), []);
      demand(parsed !== undefined && countOf(parsed) === 0, `there is a message in ${JSON.stringify(text)}`);
    }
  }),
  check("whatever form comes, parse does not fail, and what it finds is sound", (endpoint) => {
    const { body } = endpoint.genuine();
    const tryOut = (bytes: Uint8Array): void => demandSound(endpoint, parsedOf(endpoint, endpoint.signed(bytes), [])!);
    for (const bytes of [body.subarray(0, body.length / 2), Buffer.concat([body, body]), Buffer.of(0xff, 0xfe)])
      tryOut(bytes);
    const genuine = [...new URLSearchParams(Buffer.from(body).toString("utf8"))];
    everyAlteredForm(genuine).forEach(tryOut);
    holds(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 500 }), { arbitrary: alteredForm(genuine), weight: 4 }), tryOut),
      300,
    );
  }),
];

function jsonOf({ body }: SampleDelivery): Json | undefined {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8")) as Json;
  } catch {
    return undefined;
  }
}
