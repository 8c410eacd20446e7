// A text that goes out must be what the platform documents, to whom it was meant for: the fake takes nothing else.
import { describe, expect, test } from "vitest";
import { receiptOf } from "../src/send.ts";
import { failure, harnessAndPlatform, message, never, PERSON, SECTION } from "./harness.ts";

describe("a text", () => {
  test("is one message, without a preview that would be fetched unclicked", async () => {
    await using at = await harnessAndPlatform();
    const receipt = await at.channel.send(message("Hello https://example.org"), never);
    const [sent, ...others] = at.platform.sent;
    expect(others).toEqual([]);
    expect(receipt).toEqual({ platformId: sent?.messageId });
    expect(sent?.body).toEqual({
      messaging_product: "whatsapp",
      recipient_type: "individual",
      to: PERSON,
      biz_opaque_callback_data: "delivery-1",
      type: "text",
      text: { preview_url: false, body: "Hello https://example.org" },
    });
    expect(at.platform.requests[0]).toMatchObject({
      method: "POST",
      path: `/v25.0/${SECTION.phone_number_id}/messages`,
    });
  });

  test("of the greatest length is taken", async () => {
    await using at = await harnessAndPlatform();
    await at.channel.send(message("a".repeat(at.channel.text?.maxChars ?? 0)), never);
    expect(at.platform.sent[0]?.text).toHaveLength(4096);
  });

  test("quotes the message that it answers where that one quoted another", async () => {
    await using at = await harnessAndPlatform();
    await at.channel.send(message("yes", { replyData: { messageId: "wamid.in", contextId: "wamid.out" } }), never);
    await at.channel.send(message("no"), never);
    expect(at.platform.sent.map(({ quotes }) => quotes)).toEqual(["wamid.in", undefined]);
  });

  test.each([
    ["+49 151 (123) 45-67", { to: "+491511234567", recipient_type: "individual" }],
    ["16505551234", { to: "+16505551234", recipient_type: "individual" }],
    ["US.13491208655302741918", { recipient: "US.13491208655302741918", recipient_type: "individual" }],
    [
      "Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD",
      { to: "Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD", recipient_type: "group" },
    ],
  ])("to %s is addressed as the platform wants it", async (id, expected) => {
    await using at = await harnessAndPlatform();
    await at.channel.send(message("hi", { conversation: { channel: "provider_a", id } }), never);
    expect(at.platform.sent[0]?.body).toMatchObject(expected);
  });

  test.each([
    ["+1 650 555-1234", "16505551234", "+16505551234"],
    ["+16505551234", "16505551234", undefined],
    // As the platform has it: of a Brazilian mobile number without the nine.
    ["+5511987654321", "551187654321", "+551187654321"],
    ["US.13491208655302741918", "16505551234", "+16505551234"],
    ["Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD", "16505551234", undefined],
    ["+16505551234", { no: "text" }, undefined],
  ])("to %s, who is %j there, is answered from %s", (id, known, answersAs) => {
    const answer = { contacts: [{ input: id, wa_id: known }], messages: [{ id: "wamid.1" }] };
    expect(receiptOf(answer, { channel: "provider_a", id })).toEqual({
      platformId: "wamid.1",
      ...(answersAs !== undefined && { opened: { channel: "provider_a", id: answersAs } }),
    });
  });

  test("whose number was written in another form tells where it is answered, with buttons and without", async () => {
    await using at = await harnessAndPlatform();
    const conversation = { channel: "provider_a", id: PERSON.replace("+", "") };
    const prompt = { id: "ap-1", title: "Deploy?", message: "Now.", approve: "Approve", reject: "Reject" };
    const question = message("Deploy?", { conversation });
    const opened = { channel: "provider_a", id: PERSON };
    expect(await at.channel.send(question, never)).toMatchObject({ opened });
    expect(await at.channel.prompts.post(question, prompt, never)).toMatchObject({ opened });
  });

  test.each(["", "bob", "bob@example.org", "../16505551234"])("to %j is refused without a request", async (id) => {
    await using at = await harnessAndPlatform();
    const sending = at.channel.send(message("hi", { conversation: { channel: "provider_a", id } }), never);
    expect(await failure(sending)).toMatchObject({ code: "DELIVERY_REFUSED" });
    expect(at.platform.requests).toEqual([]);
  });
});

describe("signs", () => {
  test("writing, and read with it, is told of a message", async () => {
    await using at = await harnessAndPlatform();
    const conversation = { channel: "provider_a", id: PERSON };
    await at.channel.typing.start(conversation, "wamid.in", never);
    await at.channel.typing.start(conversation, undefined, never);
    expect(at.platform.marks).toEqual(["read wamid.in", "typing wamid.in"]);
    expect(at.platform.requests).toHaveLength(1);
    expect(at.channel.typing.lastsMs).toBe(25_000);
  });

  test("read alone does not say that somebody writes", async () => {
    await using at = await harnessAndPlatform();
    await at.channel.readMarks.mark({ channel: "provider_a", id: PERSON }, "wamid.in", never);
    expect(at.platform.marks).toEqual(["read wamid.in"]);
  });
});
