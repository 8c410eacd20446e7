// /openapi.json as it is served, and that its schemas say of what comes in exactly what the gateway does.
import { DeviceName, WebhookMessage } from "@svc/api";
import { parseJson } from "@svc/kit";
import { toJsonSchema } from "@valibot/to-json-schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { Reply } from "../src/http/reply.ts";
import { CONVERSION, CORE_ROUTES, inputSchema, openApiDocument } from "../src/openapi.ts";
import { CORE_PATHS, PAGE_PATHS } from "../src/routes/core-paths.ts";
import { messageOf } from "../src/routes/webhook.ts";
import { Harness, route } from "./harness.ts";
import { call } from "./http.ts";

describe("the document", () => {
  test("that is served is the one made without a gateway, with the routes of features beside core's", async () => {
    const served = await call(await new Harness().start(), { path: "/openapi.json" });
    expect(served.json).toEqual(openApiDocument({ version: "1.2.3", routes: CORE_ROUTES }));
    const pets = v.object({ pets: v.array(v.string()) });
    const doc = {
      summary: "Lists pets.",
      query: { kind: v.optional(v.string()) },
      answers: { 200: { description: "All.", body: pets } },
    };
    const more = await new Harness().start({
      routes: [route("GET", "/api/pets", undefined, doc), route("PUT", "/api/pets")],
    });
    const { paths } = (await call(more, { path: "/openapi.json" })).json;
    expect(Object.keys(paths)).toHaveLength(Object.keys(served.json.paths).length + 1);
    expect(paths["/api/pets"].get).toMatchObject({
      summary: "Lists pets.",
      parameters: [{ name: "kind", in: "query", required: false }],
      responses: { 200: { content: { "application/json": { schema: { required: ["pets"] } } } }, 403: {} },
    });
    expect(Object.keys(paths["/api/pets"].put.responses)).toEqual(expect.arrayContaining(["413", "415", "503"]));
  });

  test("names every route that answers, and no other: each path refuses all methods but those in it", async () => {
    const gateway = await new Harness().start();
    const byPath = Map.groupBy(CORE_ROUTES, ({ path }) => path);
    for (const [path, specs] of byPath) {
      const { headers } = await call(gateway, { method: "OPTIONS", path: path.replace("{id}", "x") });
      const methods = specs.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
      expect([path, headers["allow"]]).toEqual([path, methods.toSorted().join(", ")]);
    }
  });

  test("is told from an older one by its ETag, and is not kept unasked", async () => {
    const gateway = await new Harness().start();
    const first = await call(gateway, { path: "/openapi.json" });
    const etag = String(first.headers["etag"]);
    expect(first.headers["cache-control"]).toBe("no-cache");
    const again = (known: string) => call(gateway, { path: "/openapi.json", headers: { "if-none-match": known } });
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const answer = await again(known);
      expect([answer.status, answer.text, answer.headers["etag"], answer.headers["content-length"]]).toEqual([
        304,
        "",
        etag,
        undefined,
      ]);
    }
    for (const known of ['"other"', etag.slice(1, -1), ""]) expect((await again(known)).status).toBe(200);
    gateway.reconfigure({ routes: [route("GET", "/api/new")] });
    expect((await again(etag)).status).toBe(200);
  });

  test("of a feature whose schema has no counterpart is shown all the same", async () => {
    const doc = {
      body: v.custom<string>((value) => value === 1),
      answers: { 200: { description: "", body: v.date() } },
    };
    const gateway = await new Harness().start({ routes: [route("POST", "/api/odd", undefined, doc)] });
    expect((await call(gateway, { path: "/openapi.json" })).json.paths["/api/odd"].post.requestBody.content).toEqual({
      "application/json": { schema: {} },
    });
  });

  test("has exactly the paths that features must leave alone", () => {
    const paths = new Set([...CORE_ROUTES.map(({ path }) => path), ...PAGE_PATHS]);
    expect([...paths].toSorted()).toEqual(CORE_PATHS.toSorted());
  });

  test("leaves out nothing that core's schemas demand", () => {
    const strict = { ...CONVERSION, errorMode: "throw" } as const;
    for (const { body, answers, params, headers, query } of CORE_ROUTES) {
      const bodies = [body, ...Object.values(answers).map((answer) => answer.body)].filter((one) => one !== undefined);
      for (const schema of [...bodies, ...Object.values({ ...params, ...headers })]) {
        expect(() => toJsonSchema(schema, { ...strict, typeMode: "input" })).not.toThrow();
      }
      for (const schema of Object.values(query ?? {})) {
        expect(() => toJsonSchema(schema, { ...strict, typeMode: "output" })).not.toThrow();
      }
    }
  });
});

describe("what is documented is what is checked", () => {
  const ajv = new Ajv2020();

  test("the body of /webhook: the schema's word and the gateway's are one, for any JSON", () => {
    const fits = ajv.compile(inputSchema(WebhookMessage));
    const text = fc.oneof(fc.string(), fc.constantFrom("", " ", "\t\n", "\u00a0", "\ufeff", "\u200b", "x"));
    const value = fc.oneof(fc.jsonValue(), fc.record({ message: fc.oneof(text, fc.jsonValue()) }), fc.array(text));
    fc.assert(
      fc.property(value, (json) => {
        const body = Buffer.from(JSON.stringify(json));
        expect(!(messageOf(body) instanceof Reply)).toBe(fits(parseJson(body)));
      }),
    );
  });

  test("a device's name: printable, at most 64 characters, not blank", () => {
    const fits = ajv.compile(inputSchema(DeviceName));
    const unit = fc.oneof(
      fc.constantFrom(" ", "\u00a0", "\u2028", "\u0000", "\u202e", "a", "é", "🐎", "\ud800"),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 70 }), (parts) => {
        const name = parts.join("");
        const isName = /^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u.test(name) && name.trim() !== "";
        expect([v.is(DeviceName, name), fits(name)]).toEqual([isName, isName]);
      }),
    );
  });
});
