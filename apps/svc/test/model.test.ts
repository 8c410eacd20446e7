// A real provider's wire format through the whole binary: the embedded model must not be the only one that works.
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { expect, test } from "vitest";
import { homeWith, post } from "./daemon.ts";

test("an OpenAI-compatible server answers, calls a tool, fails and comes back", async () => {
  await using model = await fakeModelServer({
    script: [
      { text: "hello from the model" },
      { calls: [{ name: "file_list", input: {} }] },
      { text: "your workspace is empty" },
      { status: 401, message: "bad key sk-model-secret" },
    ],
  });
  using home = homeWith(
    `[model]\nprovider = "openai-compatible"\nname = "local"\nbase_url = "${model.url}"\napi_key = "sk-model-secret"\nprice = { input_per_million = 1, output_per_million = 2 }\n[agent]\ninstructions = "Be brief."\n`,
  );
  await using daemon = await startBinary({ home: home.path });
  const token = await daemon.pair();
  expect((await post(daemon, token, "hi", { "X-Session-Id": "s" })).body).toEqual({
    response: "hello from the model",
    model: "local",
    session_id: "s",
  });
  expect((await post(daemon, token, "what is there?", { "X-Session-Id": "s" })).body.response).toBe(
    "your workspace is empty",
  );
  expect(JSON.stringify(model.requests[2]!.body)).toContain("entries");
  expect(model.requests[0]!.body["messages"]).toMatchObject([
    { role: "system", content: "Be brief." },
    { role: "user" },
  ]);
  const refused = await post(daemon, token, "again", { "X-Session-Id": "s" });
  expect(refused).toEqual({ status: 502, body: { error: "The model provider answered 401.", code: "MODEL_REFUSED" } });
  expect(daemon.output()).not.toContain("sk-model-secret");
});
