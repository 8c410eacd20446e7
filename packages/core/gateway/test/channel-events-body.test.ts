// A field of a channel event that is let through wrong, or refused without saying which it was, or with what was in it.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { postedEvent } from "../src/routes/channel-events.ts";
import { Reply } from "../src/http/reply.ts";

const QUESTION = { type: "human_approval_request", run_id: "r", step_id: "s" };

const refusal = (body: unknown): string => {
  const result = postedEvent(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
  if (!(result instanceof Reply)) return "taken";
  const { error, code } = JSON.parse(String(result.body)) as { error: string; code: string };
  expect([result.status, code]).toEqual([400, "BAD_REQUEST"]);
  return error;
};

const list = (length: number, item: unknown = "x") => Array.from({ length }, (_, n) => `${String(item)}${n}`);

describe("what is wrong", () => {
  test.each([
    [{}, "type is missing."],
    [{ type: 1 }, "type must be 1 to 128 printable characters, not all of them blank."],
    [{ type: "" }, "type must be 1 to 128 printable characters, not all of them blank."],
    [{ type: " \u3000" }, "type must be 1 to 128 printable characters, not all of them blank."],
    [{ type: "a\nb" }, "type must be 1 to 128 printable characters, not all of them blank."],
    [{ type: "a\u202eb" }, "type must be 1 to 128 printable characters, not all of them blank."],
    [{ type: "x".repeat(129) }, "type must be 1 to 128 printable characters, not all of them blank."],
    [{ type: "x", content: null }, "content must be an object."],
    [{ type: "x", content: [] }, "content must be an object."],
    [{ type: "x", content: "s3cret" }, "content must be an object."],
    [{ type: "x", content: { title: 5 } }, "content.title must be at most 256 characters of text."],
    [{ type: "x", content: { title: "t".repeat(257) } }, "content.title must be at most 256 characters of text."],
    [{ type: "x", content: { message: "\0" } }, "content.message must be at most 16384 characters of text."],
    ['{"type":"x","content":{"message":"\\ud800"}}', "content.message must be at most 16384 characters of text."],
    [{ type: "x", channels: "provider_a" }, "channels must be a list of at most 32 texts."],
    [{ type: "x", channels: { 0: "provider_a" } }, "channels must be a list of at most 32 texts."],
    [{ type: "x", channels: list(33) }, "channels must be a list of at most 32 texts."],
    [{ type: "x", channels: ["a", 1] }, "channels.1 must be 1 to 64 printable characters."],
    [{ type: "x", channels: ["a", "b", "a"] }, "channels must be a list without anything in it twice."],
    [{ type: "x", run_id: 7 }, "run_id must be 1 to 256 visible characters."],
    [{ ...QUESTION, run_id: "a b" }, "run_id must be 1 to 256 visible characters."],
    [{ ...QUESTION, run_id: "a\u200bb" }, "run_id must be 1 to 256 visible characters."],
    [{ ...QUESTION, run_id: ".." }, "run_id must be 1 to 256 visible characters."],
    [{ ...QUESTION, step_id: "." }, "step_id must be 1 to 256 visible characters."],
    [{ ...QUESTION, step_id: "" }, "step_id must be 1 to 256 visible characters."],
    [{ ...QUESTION, step_id: "ä".repeat(257) }, "step_id must be 1 to 256 visible characters."],
    [{ ...QUESTION, run_id: undefined }, "run_id is missing: an approval request has run_id and step_id."],
    [{ ...QUESTION, step_id: undefined }, "step_id is missing: an approval request has run_id and step_id."],
    [{ ...QUESTION, approve_keywords: "yes" }, "approve_keywords must be a list of at most 32 texts."],
    [{ ...QUESTION, approve_keywords: list(33) }, "approve_keywords must be a list of at most 32 texts."],
    [
      { ...QUESTION, reject_keywords: ["no", " "] },
      "reject_keywords.1 must be 1 to 64 printable characters, not all of them blank.",
    ],
    [
      { ...QUESTION, reject_keywords: ["n".repeat(65)] },
      "reject_keywords.0 must be 1 to 64 printable characters, not all of them blank.",
    ],
    ["5", "The body must be an object."],
    ["null", "The body must be an object."],
    ["[]", "The body must be an object."],
    ['[{"type":"x"}]', "The body must be an object."],
  ])("%j: %s", (body, sentence) => expect(refusal(body)).toBe(sentence));

  test("is never in the answer", () => {
    const nasty = fc.constant("s3cret-value");
    const fields = ["type", "content", "channels", "run_id", "step_id", "approve_keywords", "reject_keywords"];
    const value = fc.oneof(
      nasty,
      fc.array(nasty),
      fc.dictionary(nasty, nasty),
      fc.constant({ title: ["s3cret-value"] }),
    );
    const body = fc.dictionary(fc.constantFrom(...fields, "s3cret-value"), fc.oneof(value, fc.array(value)));
    fc.assert(
      fc.property(body, (sent) => {
        expect(refusal({ ...sent, step_id: 1 })).not.toContain("s3cret");
      }),
    );
  });
});

describe("what is taken", () => {
  test("a key that comes twice counts as it was written last, and the names of an object's own parts are nothing", () => {
    const twice = '{"type":"x","type":"build","run_id":1,"run_id":"r"}';
    expect(postedEvent(Buffer.from(twice))).toMatchObject({ type: "build", runId: "r", json: twice });
    const named = '{"type":"x","__proto__":{"channels":["a"]},"constructor":{"prototype":{"title":"p"}},"toString":1}';
    expect(postedEvent(Buffer.from(named))).toMatchObject({ type: "x", channels: [], title: undefined });
    expect(refusal('{"__proto__":{"type":"x"}}')).toBe("type is missing.");
    expect(refusal({ type: "x", content: 1, __proto__: null })).toBe("content must be an object.");
    expect(({} as { channels?: unknown }).channels).toBeUndefined();
  });

  test("the longest of everything", () => {
    const longest = {
      type: "ü".repeat(128),
      content: { title: "👍".repeat(256), message: "\t\r\n".repeat(5_000) },
      channels: list(32),
      run_id: "𝔯".repeat(256),
      step_id: "/?#%&".repeat(51),
      approve_keywords: list(32),
      reject_keywords: list(32, "no"),
    };
    expect(refusal(longest)).toBe("taken");
  });

  test("whatever comes: an event whose payload is the body byte for byte, or 400, and never a throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.uint8Array().map(String)), fc.boolean(), (text, isQuestion) => {
        const body = Buffer.from(isQuestion ? `{"type":"x","rest":${text}}` : text);
        const result = postedEvent(body);
        const seen = result instanceof Reply ? result.status : result.json;
        expect([400, body.toString("utf8")]).toContain(seen);
      }),
    );
  });
});
