/**
 * A strict agent of the Agent Client Protocol, written from its schema and without its library. Whatever svc sends is checked against the
 * schema and the protocol's order; what is wrong ends it with a violation. It behaves as its mood says.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

export const MOODS = [
  "answers",
  "asks",
  "bad-json",
  "cancels",
  "dies",
  "empty",
  "floods",
  "huge-line",
  "leaves-early",
  "old-version",
  "refuses",
  "silent",
  "steady",
  "wrong-session",
] as const;
export type Mood = (typeof MOODS)[number];

type Validate = (value: unknown) => boolean;

export interface FakeDeps {
  readonly mood: Mood;
  /** One message, without its newline. */
  readonly send: (line: string) => Promise<void>;
  readonly exit: (code: number) => void;
  readonly validate: ((name: string, value: unknown) => string | undefined) | undefined;
  readonly onViolation: (text: string) => void;
}

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
}

const REQUESTS: Readonly<Record<string, string>> = {
  initialize: "InitializeRequest",
  "session/new": "NewSessionRequest",
  "session/prompt": "PromptRequest",
  "session/cancel": "CancelNotification",
};

const SESSION = "fake-session";

export class FakeAcpAgent {
  readonly #deps: FakeDeps;
  #isInitialized = false;
  #hasSession = false;
  #prompt: number | string | undefined;
  #isCancelled = false;
  #answered: ((outcome: unknown) => void) | undefined;

  constructor(deps: FakeDeps) {
    this.#deps = deps;
  }

  async take(line: string): Promise<void> {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch {
      return this.#violation("not JSON");
    }
    if (message.jsonrpc !== "2.0") return this.#violation("not JSON-RPC 2.0");
    if (message.method === undefined) {
      const problem = this.#deps.validate?.("RequestPermissionResponse", message.result);
      if (problem) return this.#violation(problem);
      this.#answered?.(message.result?.["outcome"]);
      return;
    }
    const name = REQUESTS[message.method];
    if (name === undefined) return this.#violation(`unknown method ${message.method}`);
    const problem = this.#deps.validate?.(name, message.params);
    if (problem) return this.#violation(`${message.method}: ${problem}`);
    const isNotification = message.method === "session/cancel";
    if (isNotification !== (message.id === undefined)) return this.#violation(`${message.method} with a wrong id`);
    await this.#call(message.method, message.params ?? {}, message.id!);
  }

  async #call(method: string, params: Record<string, unknown>, id: number | string): Promise<void> {
    const { mood } = this.#deps;
    if (method === "initialize") {
      if (this.#isInitialized) return this.#violation("initialized twice");
      this.#isInitialized = true;
      if (mood === "leaves-early") return this.#deps.exit(3);
      return this.#answer(id, { protocolVersion: mood === "old-version" ? 99 : 1, agentCapabilities: {} });
    }
    if (!this.#isInitialized) return this.#violation(`${method} before initialize`);
    if (method === "session/new") {
      if (typeof params["cwd"] !== "string" || !params["cwd"].startsWith("/")) return this.#violation("a relative cwd");
      this.#hasSession = true;
      return this.#answer(id, { sessionId: SESSION });
    }
    if (!this.#hasSession || params["sessionId"] !== SESSION) return this.#violation(`${method} of another session`);
    if (method === "session/cancel") {
      this.#isCancelled = true;
      if (this.#prompt !== undefined && mood === "cancels") {
        await this.#answer(this.#prompt, { stopReason: "cancelled" });
        this.#prompt = undefined;
      }
      return;
    }
    if (this.#prompt !== undefined) return this.#violation("two prompts at once");
    this.#prompt = id;
    this.#isCancelled = false;
    const [{ text = "" } = {}] = params["prompt"] as { readonly text?: string }[];
    await this.#work(id, text);
  }

  async #work(id: number | string, text: string): Promise<void> {
    const { mood } = this.#deps;
    switch (mood) {
      case "answers":
        await this.#update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } });
        await this.#update({ sessionUpdate: "tool_call", toolCallId: "t1", title: "look", status: "in_progress" });
        await this.#update({ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed" });
        await this.#update({
          sessionUpdate: "usage_update",
          used: 10,
          size: 1000,
          cost: { amount: 0.25, currency: "USD" },
        });
        await this.#say(`you said: ${text}`);
        return this.#end(id);
      case "asks": {
        const outcome = await this.#ask();
        await this.#say(`outcome: ${JSON.stringify(outcome)}`);
        return this.#end(id);
      }
      case "bad-json":
        return this.#deps.send("this is no JSON {");
      case "dies":
        return this.#deps.exit(9);
      case "empty":
        await this.#say(" \n");
        return this.#end(id);
      case "floods":
        for (;;) await this.#say("x".repeat(60_000));
      case "huge-line":
        return this.#say("x".repeat(9 * 1024 * 1024));
      case "refuses":
        return this.#end(id, "refusal");
      case "wrong-session":
        await this.#send({
          method: "session/update",
          params: {
            sessionId: "another",
            update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "not mine" } },
          },
        });
        return this.#end(id);
      case "steady":
      case "silent":
      case "cancels":
      default:
    }
  }

  /** Of mood `steady`: a sign of life. */
  async sign(): Promise<void> {
    await this.#update({ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "in_progress" });
  }

  async #ask(): Promise<unknown> {
    const answered = new Promise((resolve) => (this.#answered = resolve));
    await this.#send({
      id: 77,
      method: "session/request_permission",
      params: {
        sessionId: SESSION,
        toolCall: { toolCallId: "t1", title: "rm -rf build", kind: "execute", rawInput: { command: "rm -rf build" } },
        options: [
          { optionId: "no", name: "No", kind: "reject_once" },
          { optionId: "yes", name: "Yes", kind: "allow_once" },
        ],
      },
    });
    return await answered;
  }

  async #say(text: string): Promise<void> {
    await this.#update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  async #update(update: object): Promise<void> {
    await this.#send({ method: "session/update", params: { sessionId: SESSION, update } });
  }

  async #end(id: number | string, stopReason = "end_turn"): Promise<void> {
    this.#prompt = undefined;
    await this.#answer(id, { stopReason: this.#isCancelled ? "cancelled" : stopReason });
  }

  async #answer(id: number | string, result: object): Promise<void> {
    await this.#send({ id, result });
  }

  async #send(message: object): Promise<void> {
    await this.#deps.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  #violation(text: string): void {
    this.#deps.onViolation(text);
    this.#deps.exit(70);
  }
}

/** Checks by the schema of the protocol. */
export async function schemaCheck(): Promise<FakeDeps["validate"]> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const file = createRequire(import.meta.url).resolve("@agentclientprotocol/sdk/schema/v1/schema.json");
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(JSON.parse(readFileSync(file, "utf8")) as object, "acp");
  const known = new Map<string, Validate>();
  return (name, value) => {
    const validate = known.get(name) ?? (ajv.compile({ $ref: `acp#/$defs/${name}` }) as Validate);
    known.set(name, validate);
    return validate(value) ? undefined : `does not fit ${name}`;
  };
}
