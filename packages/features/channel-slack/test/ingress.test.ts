// Anyone who can post what passes for the platform's can write in anyone's name.
import { rawOf } from "@svc/testkit/conformance/channel-conformance";
import { slackDelivery, slackFormDelivery, slackSigned } from "@svc/testkit/platforms/slack/delivery";
import { slackCommand, slackMessageEvent, slackPress } from "@svc/testkit/platforms/slack/events";
import { describe, expect, test } from "vitest";
import { fixture, ingressAt, NOW_MS, PERSON, posted, SIGNING_SECRET } from "./fixture.ts";

const opened = fixture({ mode: "events" });
const ingress = ingressAt(opened);
const payload = slackMessageEvent({ id: "m1", text: "Hello", from: PERSON, atMs: NOW_MS });

test("there are three addresses, and the socket needs none", () => {
  expect(opened.ingress.map(({ path }) => path)).toEqual(["/slack/events", "/slack/actions", "/slack/commands"]);
  expect(fixture().ingress).toEqual([]);
});

describe("the signature", () => {
  // https://docs.slack.dev/authentication/verifying-requests-from-slack has this request, and what signs it.
  const body =
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
  const headers = {
    "x-slack-request-timestamp": "1531420618",
    "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
  };

  test("of the platform's own example is right, five minutes before and after", () => {
    for (const offMs of [-300_000, 0, 300_000]) {
      const request = { ...posted(body, headers), receivedAtMs: 1_531_420_618_000 + offMs };
      expect(ingress.verify(request)).toEqual({ ok: true });
    }
    for (const offMs of [-301_000, 301_000]) {
      const request = { ...posted(body, headers), receivedAtMs: 1_531_420_618_000 + offMs };
      expect(ingress.verify(request)).toMatchObject({ ok: false, code: "BAD_SIGNATURE" });
    }
  });

  test.each([
    ["another version", { "x-slack-signature": headers["x-slack-signature"].replace("v0", "v1") }],
    ["no version", { "x-slack-signature": headers["x-slack-signature"].slice(3) }],
    ["two prefixes", { "x-slack-signature": headers["x-slack-signature"].replace("v0=", "v0=sha256=") }],
    ["upper case", { "x-slack-signature": headers["x-slack-signature"].toUpperCase().replace("V0", "v0") }],
    ["another time", { "x-slack-request-timestamp": "1531420619" }],
    ["a fraction of a second", { "x-slack-request-timestamp": "1531420618.0" }],
    ["nothing", { "x-slack-signature": undefined }],
  ])("with %s is wrong", (_, more) => {
    const request = { ...posted(body, { ...headers, ...more }), receivedAtMs: 1_531_420_618_000 };
    expect(ingress.verify(request)).toMatchObject({ ok: false });
  });

  test("is wanted at each of them", () => {
    for (const one of opened.ingress) {
      expect(one.signed).toBe(true);
      expect(one.verify(posted("{}"))).toMatchObject({ ok: false });
    }
  });
});

test("the question whether the address is ours is answered with its challenge, as text", () => {
  const body = Buffer.from(JSON.stringify({ type: "url_verification", token: "x", challenge: "<b>3eZbrw1a</b>" }));
  const request = rawOf(slackSigned(SIGNING_SECRET, body, NOW_MS), NOW_MS);
  expect(ingress.verify(request)).toEqual({ ok: true });
  expect(ingress.parse(request).reply).toEqual({
    status: 200,
    contentType: "text/plain; charset=utf-8",
    body: "<b>3eZbrw1a</b>",
  });
});

test("what is delivered again has the id that it had", () => {
  const first = ingress.parse(rawOf(slackDelivery(SIGNING_SECRET, payload, NOW_MS), NOW_MS)).inbound;
  const again = slackDelivery(SIGNING_SECRET, payload, NOW_MS + 60_000, { num: 1, reason: "http_timeout" });
  expect(ingress.parse(rawOf(again, NOW_MS + 60_000)).inbound).toEqual(first);
  expect(first?.[0]?.id).toBeDefined();
});

describe("a form", () => {
  const button = { label: "Approve", actionId: "svc-approve", blockId: "b", value: "svc-prompt:ap-1:yes" };
  const press = slackPress({
    from: PERSON,
    channel: "D0PERSON1",
    ts: "1780272000.000100",
    button,
    atMs: NOW_MS,
    id: "p",
  });

  test.each(["/slack/events", "/slack/actions", "/slack/commands"])(
    "may come to %s, and is answered with nothing that is shown",
    (path) => {
      const at = ingressAt(opened, path);
      const pressed = at.parse(
        rawOf(slackFormDelivery(SIGNING_SECRET, { payload: JSON.stringify(press) }, NOW_MS), NOW_MS, path),
      );
      expect(pressed.inbound).toMatchObject([{ choice: { prompt: "ap-1", approved: true } }]);
      expect(pressed.reply).toEqual({ status: 200, contentType: "text/plain; charset=utf-8", body: "" });
      const command = slackCommand({ from: PERSON, command: "/svc", text: "new", id: "c" });
      const commanded = at.parse(rawOf(slackFormDelivery(SIGNING_SECRET, command, NOW_MS), NOW_MS, path));
      expect(commanded).toMatchObject({ inbound: [{ text: "/new" }], reply: { body: "" } });
    },
  );

  const formed = (body: string) => posted(body, { "content-type": "application/x-www-form-urlencoded; charset=utf-8" });

  test.each(["payload=%7B", "payload", "payload=", "payload=%ff"])(
    "whose payload is no JSON, %j, is BAD_JSON",
    (body) => {
      expect(() => ingress.parse(formed(body))).toThrow(expect.objectContaining({ code: "BAD_JSON" }));
    },
  );

  test.each(["", "a=b", "__proto__=x&constructor=y", "command=&user_id=x", "%ff=%fe", "payload=null"])(
    "with nothing in it, or strange names, says nothing: %j",
    (body) => {
      expect(ingress.parse(formed(body)).inbound).toEqual([]);
    },
  );
});
