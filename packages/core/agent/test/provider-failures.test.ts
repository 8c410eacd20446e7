// Providers that refuse, stall, break off, redirect or answer nonsense, over real HTTP with the real libraries.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { modelProblem } from "../src/models/open-model.ts";
import { ask, failure } from "./house.ts";
import { against, failureOf, houseAt, KEY, PROVIDERS, rawServer, sleeping, throughBackoffs } from "./provider-house.ts";

const modes = [
  ["whole", {}],
  ["streamed", { onEvent: () => {} }],
] as const;

describe.each(PROVIDERS)("%s", (provider) => {
  describe.each(modes)("%s", (_, more) => {
    test("429 is tried again after exactly as long as it asks", async () => {
      const busy = { status: 429, headers: { "retry-after": "7" } };
      await using made = await against(provider, [busy, { text: "now" }]);
      const turn = ask(made.agent, "hello", more);
      await sleeping(made);
      await made.clock.advance(6999);
      expect(made.server.requests).toHaveLength(1);
      await made.clock.advance(1);
      expect(await turn).toMatchObject({ response: "now" });
    });

    test("500 is tried again, then MODEL_REFUSED", async () => {
      await using made = await against(provider, () => ({ status: 500, message: `oops ${KEY} private words` }));
      const error = await throughBackoffs(made, failureOf(made, more, ["private words"]));
      expect(error).toMatchObject({ code: "MODEL_REFUSED", status: 502 });
      expect(made.server.requests).toHaveLength(3);
    });

    test.each([400, 401, 403, 404])("%i is not tried again, and not repeated", async (status) => {
      await using made = await against(provider, [{ status, message: `wrong key ${KEY}` }]);
      const error = await failureOf(made, more, ["wrong key"]);
      expect(error).toMatchObject({
        code: "MODEL_REFUSED",
        status: 502,
        message: `The model provider answered ${status}.`,
      });
      expect(error.hint).toMatch(/model/);
      expect(made.server.requests).toHaveLength(1);
    });

    test("a dropped connection is tried again, then MODEL_UNREACHABLE", async () => {
      await using made = await against(provider, () => ({ fault: "drop" }));
      const error = await throughBackoffs(made, failureOf(made, more));
      expect(error).toMatchObject({ code: "MODEL_UNREACHABLE", status: 502 });
      expect(error.message).toMatch(/\((UND_ERR_SOCKET|ECONNRESET|EPIPE)\)/);
      expect(made.server.requests).toHaveLength(3);
    });

    test("one dropped connection is not noticed", async () => {
      await using made = await against(provider, [{ fault: "drop" }, { text: "here" }]);
      expect(await throughBackoffs(made, ask(made.agent, "hello", more))).toMatchObject({ response: "here" });
    });

    test("a body that is no JSON is MODEL_UNREACHABLE at once", async () => {
      await using made = await against(provider, [{ fault: "bad-json" }]);
      expect(await failureOf(made, more)).toMatchObject({ code: "MODEL_UNREACHABLE", status: 502 });
      expect(made.server.requests).toHaveLength(1);
    });

    test("a web page in place of an answer is MODEL_UNREACHABLE", async () => {
      await using server = await rawServer((_, response) => {
        response.writeHead(200, { "content-type": "text/html" }).end("<html>Welcome to the router</html>");
      });
      const made = houseAt(provider, server.url);
      const error = await throughBackoffs(made, failureOf(made, more, ["router"]));
      expect(error).toMatchObject({ code: "MODEL_UNREACHABLE" });
    });

    test("a server that never answers: TURN_TIMEOUT, and the connection is closed", async () => {
      await using made = await against(provider, [{ fault: "hang" }]);
      const outcome = failureOf(made, more);
      await made.server.arrived(0);
      await made.clock.advance(299_999);
      expect(made.agent.load().running).toBe(1);
      await made.clock.advance(1);
      expect(await outcome).toMatchObject({ code: "TURN_TIMEOUT", status: 504 });
      await expect.poll(() => made.server.abandoned).toBe(1);
    });

    test("a cancelled turn closes the connection", async () => {
      await using made = await against(provider, [{ fault: "hang" }]);
      const cancel = new AbortController();
      const outcome = failureOf(made, { ...more, signal: cancel.signal });
      await made.server.arrived(0);
      cancel.abort();
      expect(await outcome).toMatchObject({ code: "TURN_CANCELLED" });
      await expect.poll(() => made.server.abandoned).toBe(1);
      expect(made.server.requests).toHaveLength(1);
    });

    test("a redirect is not followed: the key would go along", async () => {
      const led: string[] = [];
      await using elsewhere = await rawServer((request, response) => {
        led.push(JSON.stringify(request.headers));
        response.end();
      });
      await using server = await rawServer((_, response) => {
        response.writeHead(307, { location: elsewhere.url }).end();
      });
      const error = await failureOf(houseAt(provider, server.url), more);
      expect(error).toMatchObject({ code: "MODEL_REFUSED", message: "The model provider answered 307." });
      expect(led).toEqual([]);
    });

    test("nobody listens there: tried again, then MODEL_UNREACHABLE with the network's word", async () => {
      const made = houseAt(provider, await closedPort());
      expect(await throughBackoffs(made, failureOf(made, more))).toMatchObject({
        code: "MODEL_UNREACHABLE",
        message: "The connection to the model provider failed (ECONNREFUSED).",
      });
    });
  });

  test("an answer that breaks off in the middle is asked for again, then MODEL_UNREACHABLE, not «answered 200»", async () => {
    await using made = await against(provider, () => ({ fault: "drop-midway", text: "half of this" }));
    const error = await throughBackoffs(made, failureOf(made));
    expect(error).toMatchObject({ code: "MODEL_UNREACHABLE" });
    expect(error.message).not.toContain("200");
    expect(made.server.requests).toHaveLength(3);
  });

  test("words of the provider that it and we know are told, with what to do", async () => {
    const body = {
      error: { message: `too long: ${KEY}`, type: "x", code: "context_length_exceeded", param: "messages" },
    };
    await using server = await rawServer((_, response) => {
      response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
    expect(await failureOf(houseAt(provider, server.url), {}, ["too long"])).toMatchObject({
      message: "The model provider answered 400 (context_length_exceeded, messages).",
      hint: "Lower agent.history_max_tokens.",
    });
  });

  test("a failed turn leaves no trace in the conversation", async () => {
    await using made = await against(provider, [{ status: 400 }, { text: "yes" }]);
    await failureOf(made, { session: "s" });
    await ask(made.agent, "second", { session: "s" });
    expect(JSON.stringify(made.server.requests[1]?.body)).not.toContain("hello");
  });
});

describe("a key that no header can carry", () => {
  test.each(["sk-…", "sk a", "sk\nx-evil: 1", "sk\u0000", "schlüssel"])("%j is found at start", async (api_key) => {
    const config = { provider: "anthropic" as const, name: "m", api_key, max_retries: 0 };
    const problem = modelProblem(config);
    expect(problem).toMatchObject({ code: "CONFIG_INVALID" });
    expect(`${problem?.message}${problem?.hint}`).not.toContain(api_key);
    const { agent } = houseAt("anthropic", "http://127.0.0.1:1", { config: { model: config } });
    expect(await failure(ask(agent, "hello"))).toMatchObject({ code: "CONFIG_INVALID" });
  });

  test("blanks around it are not part of it", () => {
    expect(modelProblem({ provider: "openai", name: "m", api_key: ` ${KEY}\n`, max_retries: 0 })).toBeUndefined();
  });
});

/** An address at which nothing listens: a server's that is closed again. */
async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/v1`;
}
