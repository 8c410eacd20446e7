/** A running child agent: its process, and the Agent Client Protocol over its standard streams. svc is the client. */
import { spawn } from "node:child_process";
import {
  client,
  type ClientConnection,
  methods,
  ndJsonStream,
  type NewSessionResponse,
  type PromptResponse,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  RequestError,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { MARK } from "@svc/kit/process-tree";
import { type AgentLoan, type Clock, type Interaction, SvcError } from "@svc/contract";
import { CALL, callRequest, STEP, stepRequest } from "./own-protocol.ts";

/** One message of a child. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** All that a child may write for one prompt. */
const MAX_PROMPT_BYTES = 64 * 1024 * 1024;
const GRACE_MS = 2000;
/** Its output may close a moment before it is seen to end. */
const GONE = "its process ended or closed its output";

export interface LinkDeps {
  readonly loan: AgentLoan;
  readonly clock: Clock;
  /** What the mark of its processes begins with. */
  readonly mark: string;
  /** undefined: svc's own agent, which this starts. */
  readonly program: readonly [string, ...string[]] | undefined;
  readonly own: readonly [file: string, ...args: string[]];
  /** Any sign of life. */
  readonly onSign: () => void;
  readonly onUpdate: (update: SessionUpdate) => void;
  readonly onPermission: (request: RequestPermissionRequest) => void;
  readonly onSpent: (spent: { inputTokens: number; outputTokens: number; costUsd: number | undefined }) => void;
  /** Svc is about to ask a model, or to call a tool, for it. Throws what refuses that. */
  readonly onNext: (what: "model" | "action") => void;
  readonly onStart: (pid: number | undefined) => void;
  /** Once: the process has ended, or can't be talked with any more. `reason`: for a person. */
  readonly onDeath: (reason: string) => void;
}

export class AcpLink {
  /** Work of svc for it that is under way: a model call, a tool call, a question to a person. */
  hostWork = 0;
  pumpAlive = false;
  processAlive = false;
  readonly #deps: LinkDeps;
  readonly #stopped = new AbortController();
  #prompting = new AbortController();
  #connection: ClientConnection | undefined;
  #sessionId: string | undefined;
  #bytes = 0;
  #isDead = false;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(deps: LinkDeps) {
    this.#deps = deps;
  }

  /** Starts it and opens a session. Throws CHILD_AGENT_FAILED, and what the sandbox throws. */
  async open(): Promise<void> {
    const { loan, program, onStart } = this.#deps;
    const { promise: interaction, resolve: interact, reject } = Promise.withResolvers<Interaction>();
    const running = program
      ? loan.runProgram({ command: program, interact, markPrefix: this.#deps.mark }, this.#stopped.signal)
      : runOwn(this.#deps, interact, this.#stopped.signal);
    this.#ended = running.then(
      () => this.#die(GONE),
      (error: unknown) => {
        reject(error);
        this.#die(error instanceof SvcError ? error.message : "its process could not be run");
      },
    );
    const started = await interaction;
    this.processAlive = started.pid !== undefined;
    onStart(started.pid);
    void started.exited.then(() => {
      this.processAlive = false;
      this.#die(GONE);
    });
    await this.#greet(this.#connect(started));
  }

  /** Resolves with why it ended the turn. Throws CHILD_AGENT_FAILED. One at a time. */
  async prompt(text: string): Promise<StopReason> {
    this.#bytes = 0;
    this.#prompting = new AbortController();
    const params = { sessionId: this.#sessionId!, prompt: [{ type: "text" as const, text }] };
    try {
      const { stopReason } = await this.#connection!.agent.request<PromptResponse>(
        methods.agent.session.prompt,
        params,
      );
      return stopReason;
    } catch (error) {
      throw failed("It could not answer", error);
    } finally {
      // What it asked for and did not wait for.
      this.#prompting.abort(new SvcError("TURN_CANCELLED"));
    }
  }

  /** Asks the child to end its turn. */
  async cancel(): Promise<void> {
    await this.#connection?.agent
      .notify(methods.agent.session.cancel, { sessionId: this.#sessionId! })
      .catch(() => undefined);
    this.#prompting.abort(new SvcError("TURN_CANCELLED", "The child agent was interrupted."));
  }

  /** Ends its process with all that it started. Resolves when none is left. */
  async close(): Promise<void> {
    this.#isDead = true;
    this.pumpAlive = false;
    const gone = new SvcError("TURN_CANCELLED", "The child agent was ended.");
    this.#prompting.abort(gone);
    this.#stopped.abort(gone);
    this.#connection?.close();
    await this.#ended;
  }

  #die(reason: string): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.pumpAlive = false;
    const gone = new SvcError("CHILD_AGENT_FAILED", `The child agent is gone: ${reason}.`);
    this.#prompting.abort(gone);
    this.#connection?.close(gone);
    this.#stopped.abort(gone);
    this.#deps.onDeath(reason);
  }

  #connect({ output, write }: Interaction): ClientConnection {
    const { loan, onUpdate, onPermission, onSpent, onNext, onSign } = this.#deps;
    const app = client({ name: "svc" })
      .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
        onPermission(params);
        const asked = { callId: params.toolCall.toolCallId, tool: this.#deps.program ? "program" : "svc" };
        const input = shownCall(params);
        const reason = "A child agent asks for permission.";
        const wait = AbortSignal.any([signal, this.#prompting.signal]);
        const { approved } = await this.#during(() => loan.askPerson({ ...asked, input, reason }, wait));
        const kinds = approved ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
        const option = kinds.flatMap((kind) => params.options.filter((one) => one.kind === kind))[0];
        return {
          outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" },
        } as const;
      })
      .onNotification(methods.client.session.update, ({ params }) => {
        if (params.sessionId === this.#sessionId) onUpdate(params.update);
      });
    if (!this.#deps.program) {
      const signalOf = (): AbortSignal => this.#prompting.signal;
      app.onRequest(STEP, stepRequest, async ({ params }) => {
        const answer = await this.#during(async () => {
          onNext("model");
          return await loan.askModel(params.messages, signalOf());
        });
        onSpent(answer);
        return { said: answer.said, text: answer.text, calls: answer.calls };
      });
      app.onRequest(CALL, callRequest, ({ params }) =>
        this.#during(async () => {
          onNext("action");
          return await loan.callTool(params, signalOf());
        }),
      );
    }
    const readable = streamOf(this.#counted(output));
    const writable = new WritableStream<Uint8Array>({ write });
    this.pumpAlive = true;
    const connection = app.connect(ndJsonStream(writable, readable, { maxMessageBytes: MAX_MESSAGE_BYTES }));
    void connection.closed.then(() => this.#die(GONE));
    onSign();
    return connection;
  }

  async #greet(connection: ClientConnection): Promise<void> {
    this.#connection = connection;
    const { agent } = connection;
    try {
      const { protocolVersion } = await agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        // It works with what its sandbox gives it: no file and no terminal of svc's.
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      });
      if (protocolVersion !== PROTOCOL_VERSION) {
        throw new Error(`it speaks version ${protocolVersion} of the protocol, not ${PROTOCOL_VERSION}`);
      }
      const { workspace: cwd, maxSteps } = this.#deps.loan;
      const session = { cwd, mcpServers: [], ...(!this.#deps.program && { _meta: { svc: { maxSteps } } }) };
      const { sessionId } = await agent.request<NewSessionResponse>(methods.agent.session.new, session);
      this.#sessionId = sessionId;
    } catch (error) {
      throw failed("It did not open a session", error);
    }
  }

  /** Its output, which is read no faster than it is understood. */
  async *#counted(output: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of output) {
        this.#deps.onSign();
        this.#bytes += chunk.byteLength;
        if (this.#bytes > MAX_PROMPT_BYTES) {
          this.#die("it wrote more than 64 MiB for one prompt");
          return;
        }
        yield chunk;
      }
    } catch {
      // Its pipe broke, which is its end.
    } finally {
      this.pumpAlive = false;
    }
  }

  async #during<T>(work: () => Promise<T>): Promise<T> {
    this.hostWork += 1;
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      throw new RequestError(-32000, `${error.code}: ${error.message}`);
    } finally {
      this.hostWork -= 1;
      this.#deps.onSign();
    }
  }
}

/** Read only when it is asked for more. */
function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

/** The process of svc's own agent: no environment, no rights; it ends when its input does. */
function runOwn(
  { own: [file, ...args], mark, clock }: LinkDeps,
  interact: (interaction: Interaction) => void,
  signal: AbortSignal,
): Promise<unknown> {
  const child = spawn(file, args, {
    env: { [MARK]: `${mark}${crypto.randomUUID()}` },
    cwd: "/",
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
    windowsHide: true,
  });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  child.stdin.on("error", () => undefined);
  child.stdout.on("error", () => undefined);
  const kill = (): void => {
    child.stdin.end();
    child.kill("SIGTERM");
    const cancel = clock.after(GRACE_MS, () => child.kill("SIGKILL"));
    void ended.then(cancel);
  };
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  interact({
    pid: child.pid,
    exited: ended,
    output: child.stdout,
    write: (chunk) =>
      new Promise((resolve, reject) => child.stdin.write(chunk, (error) => (error ? reject(error) : resolve()))),
  });
  return ended;
}

const MAX_SHOWN_CHARS = 4000;

/** What a person is shown of a call that a child asks for. */
function shownCall({ toolCall }: RequestPermissionRequest) {
  const { title, kind, rawInput, locations } = toolCall;
  const input = rawInput === undefined ? null : JSON.stringify(rawInput).slice(0, MAX_SHOWN_CHARS);
  return {
    title: (title ?? "").slice(0, MAX_SHOWN_CHARS),
    kind: kind ?? null,
    input,
    files: (locations ?? []).slice(0, 20).map(({ path }) => path),
  };
}

function failed(what: string, error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  const why = error instanceof Error ? error.message.slice(0, 500) : "unknown error";
  return new SvcError("CHILD_AGENT_FAILED", `${what}: ${why}`, { cause: error });
}
