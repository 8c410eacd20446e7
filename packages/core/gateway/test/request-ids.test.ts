// Whoever has an answer with an id finds every line of the log about it, and no line of anybody else's: also when hundreds
// of requests run side by side on a few connections, and end in another order than they began in.
import { Agent, type IncomingMessage, request } from "node:http";
import { type RuntimeLogger, createLogger, currentScope } from "@svc/runtime";
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { bearer, SocketReader } from "./event-stream.ts";
import { channelWith, delivery } from "./channel.ts";
import { Harness, type HarnessOptions, route } from "./harness.ts";
import { type Answer, call, tick } from "./http.ts";

type Line = Readonly<Record<string, unknown>>;

/** A gateway with the logger that a service has. */
class Logging extends Harness {
  declare logger: RuntimeLogger;
  readonly written: Line[] = [];
  readonly headers = { ...bearer(this.device("operator")), "content-type": "application/json" };

  constructor() {
    super();
    const write = (line: string): void => void this.written.push(JSON.parse(line) as Line);
    this.logger = createLogger({ level: "debug", write, json: true, clock: this.clock });
  }

  override start(options: HarnessOptions = {}): Promise<this> {
    return super.start({ ...options, config: { webhook_rate_limit_per_minute: 0, ...options.config } });
  }

  linesOf(id: unknown): readonly Line[] {
    return this.written.filter((line) => line["request"] === id);
  }
}

const ID = /^boot-1-\d+$/;

describe("X-Request-Id", () => {
  test("of each answer of 500 and more is another, and none that a client sent; other answers have none", async () => {
    const gateway = await new Logging().start({ run: () => Promise.reject(new SvcError("TURN_FAILED")) });
    const headers = { ...gateway.headers, "x-request-id": "mine" };
    const ask = (method: string, path: string): Promise<Answer> =>
      call(gateway, { method, path, headers, ...(method === "POST" && { body: '{"message":"hi"}' }) });
    const ids = [
      (await ask("POST", "/webhook")).headers["x-request-id"],
      (await ask("POST", "/webhook")).headers["x-request-id"],
    ];
    for (const id of ids) expect(id).toMatch(ID);
    expect(new Set(ids).size).toBe(2);
    for (const path of ["/health", "/nowhere", "/api/status"])
      expect((await ask("GET", path)).headers["x-request-id"]).toBeUndefined();
  });

  test.each<[string, HarnessOptions, (gateway: Logging) => Promise<unknown>]>([
    [
      "a turn that fails",
      { run: () => Promise.reject(new SvcError("TURN_FAILED")) },
      (gateway) =>
        call(gateway, { method: "POST", path: "/webhook", headers: gateway.headers, body: '{"message":"hi"}' }),
    ],
    [
      "what nobody foresaw below /api",
      { routes: [route("GET", "/api/plugins", () => Promise.reject(new Error("unforeseen")))] },
      (gateway) => call(gateway, { path: "/api/plugins", headers: gateway.headers }),
    ],
    [
      "what nobody foresaw elsewhere",
      {},
      (gateway) => {
        gateway.broken = new Error("unforeseen");
        return call(gateway, { path: "/health" });
      },
    ],
    [
      "a delivery that can't be kept",
      { ingress: [channelWith()] },
      (gateway) => {
        gateway.accept = () => Promise.reject(new SvcError("STORE_FULL"));
        return call(gateway, delivery());
      },
    ],
    [
      "metrics that can't be told",
      { exposition: { text: () => Promise.reject(new Error("unforeseen")) } },
      (gateway) => call(gateway, { path: "/metrics" }),
    ],
  ])("of %s leads to its lines", async (_, options, ask) => {
    const gateway = await new Logging().start(options);
    await call(gateway, { path: "/health" });
    const answer = (await ask(gateway)) as { status: number; headers: Record<string, string> };
    expect(answer.status).toBeGreaterThanOrEqual(500);
    const id = answer.headers["x-request-id"];
    expect(id).toMatch(ID);
    expect(gateway.linesOf(id).length).toBeGreaterThan(0);
    for (const line of gateway.written) expect([undefined, id]).toContain(line["request"]);
  });

  test("of a WebSocket that can't be opened leads to its lines", async () => {
    const gateway = new Logging();
    await gateway.start();
    gateway.gateway.drain();
    const answer = (await SocketReader.open(gateway, { headers: gateway.headers })) as Answer;
    expect([answer.status, answer.headers["x-request-id"]]).toEqual([503, expect.stringMatching(ID)]);
  });
});

describe("lines", () => {
  test("of requests side by side on a few connections have each its own id, bodies in pieces and all", async () => {
    const gateway = new Logging();
    const scopes: unknown[] = [];
    await gateway.start({
      async run({ text }) {
        const pauses = Number(text) % 7;
        for (let pause = 0; pause < pauses; pause += 1) await tick();
        gateway.logger.info("in the turn", { text });
        scopes.push(currentScope().request);
        if (Number(text) % 3 === 0) throw new SvcError("TURN_FAILED");
        return {};
      },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const answers = await Promise.all(
      Array.from({ length: 300 }, async (_, number) => ({ number, ...(await posted(gateway, agent, number)) })),
    );
    agent.destroy();
    expect(new Set(scopes).size).toBe(300);
    for (const { number, id, status } of answers) {
      const [own, ...others] = gateway.written.filter(({ text }) => text === String(number));
      expect([own!["message"], others]).toEqual(["in the turn", []]);
      const isRefused = number % 3 === 0;
      expect([status, id]).toEqual(isRefused ? [500, own!["request"]] : [200, undefined]);
      expect(gateway.linesOf(own!["request"])).toHaveLength(isRefused ? 2 : 1);
    }
  });

  test("of the messages of one WebSocket have each its own, and not that of its opening", async () => {
    const gateway = new Logging();
    await gateway.start({
      async run({ text }) {
        await tick();
        gateway.logger.info("in the turn", { text });
        return {};
      },
    });
    const socket = (await SocketReader.open(gateway, { headers: gateway.headers })) as SocketReader;
    for (const content of ["one", "two", "three"]) socket.say({ type: "message", content });
    while (gateway.written.filter(({ message }) => message === "in the turn").length < 3) await tick();
    const ids = gateway.written.filter(({ message }) => message === "in the turn").map((line) => line["request"]);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(ID);
  });

  test("that nobody asked for have none", async () => {
    const gateway = await new Logging().start();
    expect(gateway.written.map((line) => [line["message"], line["request"]])).toEqual([
      ["the gateway listens", undefined],
    ]);
  });
});

/** A message whose body comes in three pieces. */
function posted(gateway: Logging, agent: Agent, number: number): Promise<{ id: unknown; status: number | undefined }> {
  const body = JSON.stringify({ message: String(number) });
  const options = {
    host: "127.0.0.1",
    port: gateway.port,
    method: "POST",
    path: "/webhook",
    agent,
    headers: { ...gateway.headers, "content-length": body.length },
  };
  return new Promise((resolve, reject) => {
    const sent = request(options, (answer: IncomingMessage) => {
      answer.resume().on("end", () => resolve({ id: answer.headers["x-request-id"], status: answer.statusCode }));
    }).on("error", reject);
    sent.write(body.slice(0, 3));
    setImmediate(() => {
      sent.write(body.slice(3, 9));
      setImmediate(() => sent.end(body.slice(9)));
    });
  });
}
