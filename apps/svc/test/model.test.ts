// A real provider's wire format through the whole binary: the embedded model must not be the only one that works.
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { expect, test } from "vitest";
import { homeWith, post } from "./daemon.ts";

test("svc chat shows a wait as it begins, and a failure with the provider's words and the fix, without the key", async () => {
  const key = "sk-model-secret";
  await using model = await fakeModelServer({
    script: [
      { status: 429, headers: { "retry-after": "0" } },
      { text: "here I am" },
      { status: 401, message: `bad key ${key}` },
    ],
  });
  using home = homeWith(
    `[model]\nprovider = "openai-compatible"\nname = "local"\nbase_url = "${model.url}"\napi_key = "${key}"\n`,
  );
  await using _ = await startBinary({ home: home.path });
  const say = (text: string) => runBinary(["chat", "-m", text], { home: home.path });
  const answered = await say("hi");
  expect([answered.code, answered.stdout]).toEqual([0, "here I am\n"]);
  expect(answered.stderr).toContain("rate limit is reached (429). Trying again in 1 s: 2 of 4]");
  const refused = await say("again");
  expect(refused.code).toBe(69);
  expect(refused.stderr).toMatch(/refused the API key \(401\)/);
  expect(refused.stderr).toContain("The provider says: bad key ••••••");
  expect(refused.stderr).toContain("svc secrets set model.api_key");
  expect(refused.stdout + refused.stderr).not.toContain(key);
});

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
  expect(refused).toEqual({
    status: 502,
    body: { error: "The model provider refused the API key (401).", code: "MODEL_REFUSED" },
  });
  expect(daemon.output()).not.toContain("sk-model-secret");
});
