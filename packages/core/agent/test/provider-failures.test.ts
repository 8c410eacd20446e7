// Providers that refuse, stall, break off, redirect or answer nonsense, over real HTTP with the real libraries.
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { modelError } from "../src/models/model-error.ts";
import { modelProblem } from "../src/models/agent-models.ts";
import { turnFailure } from "@svc/contract";
import { selfSigned } from "@svc/testkit/self-signed";
import { ask, failure } from "./agent-fixture.ts";
import {
  against,
  failureOf,
  fixtureAt,
  KEY,
  PROVIDERS,
  rawServer,
  sendEvents,
  sleeping,
  throughBackoffs,
} from "./provider-fixture.ts";

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

    test("429 and 529 are told while the turn waits: the reason, for how long, which try comes next", async () => {
      const script = [{ status: 429, headers: { "retry-after": "7" } }, { status: 529 }, { text: "now" }];
      await using made = await against(provider, script);
      await throughBackoffs(made, ask(made.agent, "hello", more));
      const waits = made.events.filter((event) => event.type === "turn-waiting");
      expect(waits).toMatchObject([
        {
          code: "MODEL_REFUSED",
          reason: "rate-limited",
          message: expect.stringMatching(/^The model provider's rate limit is reached \(429/),
          waitMs: 7000,
          attempt: 2,
          attempts: 3,
        },
        { reason: "overloaded", attempt: 3 },
      ]);
      expect(JSON.stringify(made.events)).not.toContain("scripted refusal");
    });

    test("500 is tried again, then MODEL_REFUSED", async () => {
      await using made = await against(provider, () => ({ status: 500, message: `oops ${KEY} private words` }));
      const error = await throughBackoffs(made, failureOf(made, more));
      expect(error).toMatchObject({ code: "MODEL_REFUSED", status: 502, said: "oops •••••• private words" });
      expect(JSON.stringify(made.events) + made.log.text()).not.toContain("private words");
      expect(made.server.requests).toHaveLength(3);
    });

    test.each([
      [400, "The model provider refused the request (400).", "svc model test"],
      [401, "The model provider refused the API key (401).", "svc secrets set model.api_key"],
      [402, "The account at the model provider has no credit left (402).", "Add credit"],
      [403, "The model provider does not allow this request (403).", "model.api_key"],
      [404, 'The model provider does not know the model "model-1" at this address (404).', "model.name"],
      [413, "The conversation is too long for the model (413).", "agent.history_max_tokens"],
    ])("%i is told with its fix and the provider's words, and not tried again", async (status, message, fix) => {
      await using made = await against(provider, [{ status, message: `no, said the server to ${KEY}` }]);
      const error = await failureOf(made, more);
      expect(error).toMatchObject({
        code: "MODEL_REFUSED",
        status: 502,
        message,
        said: "no, said the server to ••••••",
      });
      expect(turnFailure(error)).toMatchObject({ message, fix: expect.stringContaining(fix) });
      expect(`${error.message}${error.hint}`).not.toContain("said the server");
      expect(made.server.requests).toHaveLength(1);
    });

    test("a 404 names the models that the provider offers, those like the wanted one first", async () => {
      const asked: unknown[] = [];
      await using server = await rawServer((request, response) => {
        const isList = request.url === "/v1/models";
        if (isList) asked.push(request.headers["x-api-key"] ?? request.headers.authorization);
        response.writeHead(isList ? 200 : 404, { "content-type": "application/json" });
        const names = [
          "zeta",
          "model-2",
          "<script>",
          KEY,
          "model-1-mini",
          ...Array.from({ length: 20 }, (_, n) => `x${n}`),
        ];
        const body = isList ? { data: names.map((id) => ({ id })) } : { error: { message: "no such model" } };
        response.end(JSON.stringify(body));
      });
      const made = fixtureAt(provider, server.url, { redact: (text: string) => text.replaceAll(KEY, "•") });
      const error = await failureOf(made, more);
      expect(error.hint).toMatch(/^Set model\.name to a model that it offers: model-2, model-1-mini, /);
      expect(error.hint).not.toMatch(/script|sk-live/);
      expect(asked).toEqual([provider === "anthropic" ? KEY : `Bearer ${KEY}`]);
    });

    test("a list of models that never comes holds the failure up for three seconds", async () => {
      await using server = await rawServer((request, response) => {
        if (request.method === "POST") response.writeHead(404, { "content-type": "application/json" }).end("{}");
      });
      const made = fixtureAt(provider, server.url);
      const outcome = failureOf(made, more);
      await sleeping(made);
      await made.clock.advance(3_000);
      expect(await outcome).toMatchObject({ code: "MODEL_REFUSED", hint: expect.stringContaining("Check model.name") });
    });

    test("no credit left is told at once, though it comes as a 429", async () => {
      const requests: string[] = [];
      await using server = await rawServer((request, response) => {
        requests.push(request.url ?? "");
        response.writeHead(429, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: { message: "You exceeded your quota.", code: "insufficient_quota" } }));
      });
      expect(await failureOf(fixtureAt(provider, server.url), more)).toMatchObject({
        message: "The account at the model provider has no credit left (429, insufficient_quota).",
        said: "You exceeded your quota.",
      });
      expect(requests).toHaveLength(1);
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
      const made = fixtureAt(provider, server.url);
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
      expect(await outcome).toMatchObject({
        code: "TURN_TIMEOUT",
        status: 504,
        message: "The turn's time was up before the model answered.",
        hint: expect.stringContaining("agent.turn_timeout_secs"),
      });
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
      const error = await failureOf(fixtureAt(provider, server.url), more);
      expect(error).toMatchObject({
        code: "MODEL_REFUSED",
        message: "The model provider's address redirects elsewhere (307).",
      });
      expect(led).toEqual([]);
    });

    test("nobody listens there: tried again, then MODEL_UNREACHABLE with the network's word", async () => {
      const made = fixtureAt(provider, await closedPort());
      expect(await throughBackoffs(made, failureOf(made, more))).toMatchObject({
        code: "MODEL_UNREACHABLE",
        message: "Nothing listens at the model provider's address (ECONNREFUSED).",
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
    expect(await failureOf(fixtureAt(provider, server.url))).toMatchObject({
      message: "The conversation is too long for the model (400, context_length_exceeded, messages).",
      hint: "Start a new conversation, or lower agent.history_max_tokens.",
      said: "too long: ••••••",
    });
  });

  test("a failed turn leaves no trace in the conversation", async () => {
    await using made = await against(provider, [{ status: 400 }, { text: "yes" }]);
    await failureOf(made, { session: "s" });
    await ask(made.agent, "second", { session: "s" });
    expect(JSON.stringify(made.server.requests[1]?.body)).not.toContain("hello");
  });
});

describe("what the network says", () => {
  const thrown = (code: string): Error =>
    new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code }) });

  test.each([
    ["ENOTFOUND", "host-unknown", "host name"],
    ["EAI_AGAIN", "host-unknown", "DNS"],
    ["ECONNREFUSED", "connection-refused", "Start the model server"],
    ["CERT_HAS_EXPIRED", "tls-failed", "clock"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls-failed", "NODE_EXTRA_CA_CERTS"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "tls-failed", "model.base_url"],
    ["EPROTO", "tls-failed", "model.base_url"],
    ["UND_ERR_CONNECT_TIMEOUT", "timed-out", "network"],
    ["UND_ERR_HEADERS_TIMEOUT", "timed-out", "network"],
    ["ECONNRESET", "connection-failed", "network"],
  ])("%s is %s, with its fix", (code, reason, fix) => {
    const error = modelError(thrown(code));
    expect(error).toMatchObject({ code: "MODEL_UNREACHABLE", reason, hint: expect.stringContaining(fix) });
    expect(error.message).toContain(`(${code})`);
  });

  test("a certificate that is nobody's fails as TLS over a real connection", async () => {
    const { key, cert } = selfSigned("127.0.0.1");
    const server = createTlsServer({ key, cert }, (_, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const made = fixtureAt("openai-compatible", url);
      expect(await throughBackoffs(made, failureOf(made))).toMatchObject({ reason: "tls-failed" });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe("an answer without a word", () => {
  const chunks = (finish: string): object[] => [
    { choices: [{ index: 0, delta: { role: "assistant" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
  ];

  test.each([
    ["content_filter", "MODEL_REFUSED", "declined to answer because of the content", "Rephrase"],
    ["length", "MODEL_REFUSED", "used all its output tokens", "model.max_output_tokens"],
    ["stop", "TURN_FAILED", "empty answer", "Try again"],
  ])("that ended by %s says so, and what to do", async (finish, code, message, fix) => {
    await using server = await rawServer((_, response) => sendEvents(response, chunks(finish)));
    const error = await failureOf(fixtureAt("openai-compatible", server.url), { onEvent: () => {} });
    expect(turnFailure(error)).toMatchObject({
      code,
      message: expect.stringContaining(message),
      fix: expect.stringContaining(fix),
    });
  });

  test("and a refusal in prose that the conversation is too long is told as that", async () => {
    const prose = [
      "prompt is too long: 208310 tokens > 200000 maximum",
      "This model's maximum context length is 8192 tokens",
    ];
    for (const message of prose) {
      await using server = await rawServer((_, response) => {
        response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error: { message } }));
      });
      expect(await failureOf(fixtureAt("anthropic", server.url))).toMatchObject({
        reason: "context-full",
        said: message,
      });
    }
  });
});

test("an agent with a model of its own is told where its own key is set", () => {
  const about = {
    agent: "clerk",
    config: { provider: "openai" as const, name: "m" },
    baseUrl: undefined,
    redact: String,
  };
  expect(modelError({ statusCode: 401 }, { about }).hint).toContain("svc secrets set agents.clerk.model.api_key");
});

describe("a key that no header can carry", () => {
  test.each(["sk-…", "sk a", "sk\nx-evil: 1", "sk\u0000", "schlüssel"])("%j is found at start", async (api_key) => {
    const config = { provider: "anthropic" as const, name: "m", api_key, max_retries: 0 };
    const problem = modelProblem(config);
    expect(problem).toMatchObject({ code: "CONFIG_INVALID" });
    expect(`${problem?.message}${problem?.hint}`).not.toContain(api_key);
    const { agent } = fixtureAt("anthropic", "http://127.0.0.1:1", { config: { model: config } });
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
