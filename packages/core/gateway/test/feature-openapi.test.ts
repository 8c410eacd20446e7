// Routes of features in /openapi.json: parameters and open ones as they are, and every status that stands there provoked.
import type { ClientId, Route } from "@svc/contract";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { Promises } from "./document.ts";
import { FEATURE, Harness, route } from "./harness.ts";
import { type Answer, call, type Call } from "./http.ts";
import { originOf } from "./sign-in.ts";

const KEY = v.object({ id: v.string() });
const DEVICE = v.object({ id: v.string(), name: v.string(), scope: v.string() });
const FINISH = "/api/door/{id}/finish";

const key: Route = route(
  "GET",
  "/api/keys/{id}",
  ({ params }) =>
    params["id"] === "broken"
      ? Promise.reject(new Error("unforeseen"))
      : Promise.resolve({ status: 200, body: { ...params } }),
  { answers: { 200: { description: "The key.", body: KEY } } },
);

/** Signs in whom the path names. */
const finish: Route = {
  ...route(
    "POST",
    FINISH,
    ({ params: { id } }) =>
      id === "broken"
        ? Promise.reject(new Error("unforeseen"))
        : Promise.resolve({ status: 200, body: {}, signIn: `client-${id}` as ClientId }),
    {
      body: v.object({ answer: v.string() }),
      answers: { 200: { description: "In.", body: v.object({ csrf: v.string(), device: DEVICE }) } },
      errors: ["FORBIDDEN_SCOPE"],
    },
  ),
  access: "open",
};

async function started() {
  const harness = new Harness();
  const tokens = { operator: harness.device("operator"), webhook: harness.device("webhook") };
  const gateway = await harness.start({
    routes: [key, finish],
    authFeatures: new Set([FEATURE]),
    config: { trust_forwarded_headers: true },
  });
  const promises = new Promises((await call(gateway, { path: "/openapi.json" })).json);
  return { gateway, tokens, promises };
}

type World = Awaited<ReturnType<typeof started>>;

const get = ({ gateway, tokens }: World, { path = "/api/keys/a", headers = {} }: Call = {}) =>
  call(gateway, { path, headers: { authorization: `Bearer ${tokens.operator}`, ...headers } });

const post = ({ gateway }: World, { path = "/api/door/operator/finish", headers = {}, ...rest }: Call = {}) =>
  call(gateway, {
    method: "POST",
    path,
    body: '{"answer":""}',
    headers: { origin: originOf(gateway), "content-type": "application/json", ...headers },
    ...rest,
  });

async function again(times: number, ask: () => Promise<Answer>): Promise<Answer> {
  for (let done = 1; done < times; done += 1) await ask();
  return ask();
}

const attacker = { authorization: "Bearer x", "x-forwarded-for": "203.0.113.9" };

function failed(world: World): World {
  world.gateway.failed.add(FEATURE);
  return world;
}

function draining(world: World): World {
  world.gateway.gateway.drain();
  return world;
}

type Provocations = Readonly<Record<string, (world: World) => Promise<Answer>>>;

const GET: Provocations = {
  BAD_REQUEST: (world) => get(world, { headers: { authorization: ["Bearer x", "Bearer y"] } }),
  BAD_HOST: (world) => get(world, { headers: { host: "evil.example" } }),
  BAD_ORIGIN: (world) => get(world, { headers: { origin: "https://evil.example" } }),
  UNAUTHORIZED: (world) => get(world, { headers: { authorization: "" } }),
  FORBIDDEN_SCOPE: (world) => get(world, { headers: { authorization: `Bearer ${world.tokens.webhook}` } }),
  LOCKED_OUT: (world) => again(11, () => get(world, { headers: attacker })),
  INTERNAL: (world) => get(world, { path: "/api/keys/broken" }),
  FEATURE_DOWN: (world) => get(failed(world)),
};

const POST: Provocations = {
  BAD_REQUEST: (world) => post(world, { body: "[]" }),
  BAD_JSON: (world) => post(world, { body: "{" }),
  BAD_HOST: (world) => post(world, { headers: { host: "evil.example" } }),
  BAD_ORIGIN: (world) => post(world, { headers: { "sec-fetch-site": "cross-site" } }),
  UNAUTHORIZED: (world) => post(world, { path: "/api/door/nobody/finish" }),
  FORBIDDEN_SCOPE: (world) => post(world, { path: "/api/door/webhook/finish" }),
  BAD_CONTENT_TYPE: (world) => post(world, { headers: { "content-type": "text/plain" } }),
  TOO_LARGE: (world) => post(world, { body: "x".repeat(5000) }),
  RATE_LIMITED: (world) => again(31, () => post(world)),
  LOCKED_OUT: (world) => again(11, () => post(world, { headers: attacker })),
  INTERNAL: (world) => post(world, { path: "/api/door/broken/finish" }),
  DRAINING: (world) => post(draining(world)),
  FEATURE_DOWN: (world) => post(failed(world)),
};

/** It takes more connections than a test may open: body-memory.test.ts. */
const ELSEWHERE = new Set(["BUSY"]);

describe.each([
  ["GET", "/api/keys/{id}", GET, get],
  ["POST", FINISH, POST, post],
] as const)("%s %s", (method, path, provocations, ask) => {
  test("promises exactly the errors that come about", async () => {
    const { promises } = await started();
    const { responses } = promises.document["paths"][path][method.toLowerCase()];
    const promised = Object.values<any>(responses).flatMap(
      ({ content }) => content?.["application/json"]?.schema.properties?.code?.enum ?? [],
    );
    expect(promised.filter((code) => !ELSEWHERE.has(code)).toSorted()).toEqual(Object.keys(provocations).toSorted());
  });

  test.each(Object.entries(provocations))("answers %s as it promises", async (code, provoke) => {
    const world = await started();
    const answer = await provoke(world);
    expect(answer.json?.code).toBe(code);
    expect(world.promises.broken(method, path, answer)).toBeUndefined();
  });

  test("answers as it promises when all is well", async () => {
    const world = await started();
    const answer = await ask(world);
    expect(answer.status).toBe(200);
    expect(world.promises.broken(method, path, answer)).toBeUndefined();
  });
});

test("a parameter is shown, and who is let in", async () => {
  const { paths } = (await started()).promises.document as { readonly paths: any };
  const read = paths["/api/keys/{id}"].get;
  const open = paths[FINISH].post;
  for (const { parameters } of [read, open]) {
    expect(parameters).toMatchObject([{ name: "id", in: "path", required: true, schema: { type: "string" } }]);
  }
  expect(read.security).toEqual([{ bearer: [] }, { pageCookie: [], pageCsrf: [] }]);
  expect(open.security).toEqual([{}, { bearer: [] }, { pageCookie: [], pageCsrf: [] }]);
  expect([read.operationId, open.operationId]).toEqual(["getApiKeysId", "postApiDoorIdFinish"]);
});
