// What pushes say: ids with more digits than a float holds, both base64 alphabets, and whatever a stranger makes up.
import type { Json, Parsed } from "@svc/contract";
import { vectorCases } from "@svc/testkit/vectors";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { pushNoticeOf } from "../src/push.ts";
import { open, requestOf } from "./open-channel.ts";

const { ingress } = open();
const parseBytes = (body: Uint8Array): Parsed =>
  ingress.parse(requestOf({ method: "POST", query: "", headers: {}, body }));
const parse = (payload: Json): Parsed => parseBytes(Buffer.from(JSON.stringify(payload)));
const pushed = (data: string, more: Record<string, Json> = {}) =>
  parse({ message: { data: Buffer.from(data).toString("base64"), messageId: "push-1", ...more }, subscription: "s" });

interface Expected {
  readonly ok: boolean;
  readonly emailAddress?: string;
  readonly historyId?: string;
}

test.each(vectorCases<{ message: { messageId?: string } }, Expected>("mailpush.envelope"))(
  "$name",
  ({ input, expected: { ok, ...body } }) => {
    const id = input.message.messageId;
    const notice = { queue: "mailbox", body, ...(id !== undefined && { id }) };
    expect(parse(input as Json)).toEqual(ok ? { notices: [notice] } : {});
  },
);

const kept = (historyId: string) => ({
  notices: [{ id: "push-1", queue: "mailbox", body: { emailAddress: "a@b.example", historyId } }],
});

test.each(["0", "1", "9007199254740993", "9223372036854775807", "18446744073709551615"])(
  "the history id %s is kept digit by digit, as a number and as a text",
  (id) => {
    expect(pushed(`{"emailAddress":"a@b.example","historyId":${id}}`)).toEqual(kept(id));
    expect(pushed(`{"emailAddress":"a@b.example","historyId":"${id}"}`)).toEqual(kept(id));
    expect(pushNoticeOf({ emailAddress: "a@b.example", historyId: id })?.historyId).toBe(BigInt(id));
  },
);

test.each(["1.0", "1e3", "-1", "1.5", "9".repeat(41), '"0x1"', '" 1"', '""', "null", "true", "[1]"])(
  "the history id %s is none",
  (id) => {
    expect(pushed(`{"emailAddress":"a@b.example","historyId":${id}}`)).toEqual({});
  },
);

test.each([
  '{"emailAddress":"a@b.example","historyId":7}',
  ' { "historyId" : 7 , "emailAddress" : "a@b.example" } ',
  '{"emailAddress":"a@b.example","historyId":7,"more":{"historyId":8}}',
  '{"emailAddress":"\\u0061@b.example","historyId":7}',
  '{"emailAddress":"x","historyId":6,"emailAddress":" a@b.example ","historyId":7}',
])("%s is read as JSON is, however it is written", (text) => {
  expect(pushed(text)).toEqual(kept("7"));
});

test.each([
  '{"emailAddress":"a@b.example","historyId":07}',
  '{"emailAddress":"a@b.example","historyId":7}}',
  '{"emailAddress":"a@b.example","historyId":7}\u0000',
  '{"emailAddress":"a\t@b.example","historyId":7}',
  '{"emailAddress":"","historyId":7}',
  `{"emailAddress":"${"a".repeat(321)}","historyId":7}`,
  '{"emailAddress":"a@b.example\\","historyId":7}',
])("%j is no notification", (text) => {
  expect(pushed(text)).toEqual({});
});

test("base64url is read as base64 is, with padding and without", () => {
  const text = '{"emailAddress":"ü>?~@b.example","historyId":1}';
  const standard = Buffer.from(text).toString("base64");
  expect(standard).toMatch(/[+/]/);
  for (const data of [standard, standard.replaceAll("=", ""), Buffer.from(text).toString("base64url")]) {
    expect(parse({ message: { data } }).notices).toHaveLength(1);
  }
});

test("the message's id in either style, or none that is of use", () => {
  const text = '{"emailAddress":"a@b.example","historyId":1}';
  const idOf = (more: Record<string, Json>) => pushed(text, more).notices?.[0]?.id;
  expect(idOf({ messageId: "x", message_id: "y" })).toBe("x");
  expect(idOf({ messageId: null, message_id: "y" })).toBe("y");
  expect(idOf({ messageId: " " })).toBeUndefined();
  expect(idOf({ messageId: 7 })).toBeUndefined();
});

test("what is no JSON is 400, what is no notification is nothing", () => {
  for (const body of ["", "{", "not json", '"\u0000', "[".repeat(200)]) {
    expect(() => parseBytes(Buffer.from(body))).toThrow(expect.objectContaining({ code: "BAD_JSON" }));
  }
  const unknown: Json[] = [null, [], {}, { message: {} }, { message: { data: "" } }, { message: { data: "%%%" } }];
  expect(unknown.map(parse)).toEqual(unknown.map(() => ({})));
  expect(pushed(`${'{"a":'.repeat(200)}1${"}".repeat(200)}`)).toEqual({});
  expect(parse({ message: { data: Buffer.of(0xff, 0xfe, 0x7b).toString("base64") } })).toEqual({});
});

test("any two halves of any text make no notification of anything else than one", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (payload, text) => {
      expect(parse(payload as Json).notices ?? []).toEqual([]);
      const notices = pushed(text).notices ?? [];
      for (const { body } of notices) expect(pushNoticeOf(body)?.historyId).toBeTypeOf("bigint");
    }),
  );
});

test("every history id comes out as it went in", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (id) => {
      expect(pushed(`{"historyId":${id},"emailAddress":"a@b.example"}`)).toEqual(kept(String(id)));
    }),
  );
});
