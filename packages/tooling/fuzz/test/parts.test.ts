// The parts that the attacks stand on: a reader of answers that is wrong sees violations that are none, or none that are.
import { hash } from "node:crypto";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { attacksOn, sample } from "../src/attacks/index.ts";
import { chunked } from "../src/attacks/request.ts";
import { fromDocument } from "../src/endpoints.ts";
import { jsonOfSchema } from "../src/json-schema.ts";
import { judgeLog } from "../src/place/log.ts";
import { readAnswers } from "../src/wire/answers.ts";

const body = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
const framed = fc
  .tuple(body, fc.boolean(), fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 5 }))
  .map(([bytes, inChunks, sizes]) => {
    const framing = inChunks ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes.length}`;
    const head = Buffer.from(`HTTP/1.1 200 OK\r\nX: y\r\n${framing}\r\n\r\n`);
    return { bytes: Buffer.concat([head, inChunks ? chunked(bytes, sizes) : bytes]), body: bytes };
  });

describe("the reader of answers", () => {
  test("finds every answer with its body, however they are framed", () => {
    fc.assert(
      fc.property(fc.array(framed, { maxLength: 5 }), (answers) => {
        const read = readAnswers(Buffer.concat(answers.map(({ bytes }) => bytes)));
        expect(read).toMatchObject({ rest: Buffer.alloc(0) });
        expect(read.problem).toBeUndefined();
        expect(read.final.map((one) => one.body)).toEqual(answers.map((one) => one.body));
      }),
    );
  });

  test("takes no half answer for a whole one, and never throws", () => {
    fc.assert(
      fc.property(framed, fc.nat(), ({ bytes }, cut) => {
        const read = readAnswers(bytes.subarray(0, cut % bytes.length));
        expect([read.final.length, read.problem]).toEqual([0, undefined]);
      }),
    );
    fc.assert(fc.property(body, (bytes) => void readAnswers(bytes)));
    fc.assert(
      fc.property(body, (bytes) => void readAnswers(Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\n"), bytes]))),
    );
  });

  test("sees interim answers and streams", () => {
    const interim = "HTTP/1.1 100 Continue\r\n\r\n";
    const stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: x\n\n";
    expect(readAnswers(Buffer.from(interim + stream))).toMatchObject({
      interim: [100],
      streaming: true,
      final: [{ status: 200 }],
    });
  });
});

describe("the attacks", () => {
  const page = { cookie: "svc_session=c", csrf: "c" };
  const credentials = { token: `svc_${"a".repeat(64)}`, webhookSecret: "s", page };
  const attacks = attacksOn({ method: "POST", path: "/webhook", body: fc.constant({ message: "x" }) }, credentials);

  test("are the same for the same seed, and others for another", () => {
    const bytes = (seed: number): string => {
      const steps = sample(attacks, seed, 3, 10).flatMap((attack) => attack.steps);
      return hash("sha256", Buffer.concat(steps.map((step) => ("write" in step ? step.write : Buffer.of(0)))));
    };
    expect(bytes(1)).toBe(bytes(1));
    expect(bytes(1)).not.toBe(bytes(2));
  });

  test("are of all kinds", () => {
    const kinds = new Set(sample(attacks, 7, 0, 600).map(({ kind }) => kind));
    for (const kind of [
      "json",
      "compressed",
      "smuggling",
      "broken chunks",
      "path tricks",
      "pipeline",
      "garbage",
      "forwarding headers",
    ]) {
      expect(kinds).toContain(kind);
    }
  });
});

describe("endpoints of a document", () => {
  test("are its operations, with a body that fits its schema", () => {
    const schema = { $ref: "#/components/schemas/Say" };
    const say = { type: "object", properties: { n: { type: "integer", minimum: 3, maximum: 4 } }, required: ["n"] };
    const document = {
      components: { schemas: { Say: say } },
      paths: {
        "/api/x/{id}": { delete: {}, parameters: [] },
        "/api/say": { post: { requestBody: { content: { "application/json": { schema } } } } },
      },
    };
    const endpoints = fromDocument(document);
    expect(endpoints.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "DELETE /api/x/some-id-0",
      "POST /api/say",
    ]);
    for (const value of fc.sample(endpoints[1]!.body!, 20)) expect([{ n: 3 }, { n: 4 }]).toContainEqual(value);
  });

  test("are a list, whatever the document is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (document) => {
        expect(Array.isArray(fromDocument(document))).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue(), (schema) => void fc.sample(jsonOfSchema(schema, schema), 1)),
      { numRuns: cases(50) },
    );
  });

  test("a schema that refers to itself comes to an end", () => {
    const root = { type: "object", properties: { again: { $ref: "#" } }, required: ["again"] };
    expect(fc.sample(jsonOfSchema({ $ref: "#" }, root), 1)).toHaveLength(1);
  });
});

test("the log is judged line by line", () => {
  const line = (level: string, message: string) => JSON.stringify({ time: "t", level, message });
  expect(judgeLog(`${line("info", "all is well")}\nlistening on http://127.0.0.1:1\n`, ["planted"], ["mark"])).toEqual(
    [],
  );
  expect(judgeLog(line("error", "x"), [], [])).toHaveLength(1);
  expect(judgeLog(line("info", "it failed unexpectedly"), [], [])).toHaveLength(1);
  expect(judgeLog(line("info", "planted"), ["planted"], [])).toEqual(["the log tells a secret"]);
  expect(judgeLog(line("info", "markabc"), [], ["mark"])).toEqual(["the log quotes what was sent"]);
  expect(judgeLog("TypeError: x\n    at y (z.ts:1:1)", [], [])).toHaveLength(2);
});
