/** Titles by a cheap model, while no turn runs: `agent.title_model`. Without one a conversation is called by its first words. */
import { TITLE_CHARS } from "@svc/api";
import type { ClientId, Clock, Logger } from "@svc/contract";
import { shortened, type Store } from "@svc/store";
import { type AgentModels, estimateTokens, modelName } from "../models/agent-models.ts";
import { callModel } from "../turn/model-call.ts";
import { type Budget, Meter, type Spending } from "../cost.ts";
import type { AgentProfile } from "../profiles.ts";
import { userMessage } from "../turn/history.ts";
import { type LimitTimer, TimeLimit } from "../turn/active-turns.ts";
import { checkedTitle } from "./session-json.ts";
import { shownMessages } from "./shown-messages.ts";

export interface TitleDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly timer: LimitTimer;
  readonly log: Logger;
  readonly models: AgentModels;
  readonly budget: Budget;
  readonly spending: Spending;
  readonly redact: (text: string) => string;
  /** No turn runs or waits. */
  readonly isIdle: () => boolean;
  /** A conversation has another title. */
  readonly changed: (id: string) => void;
}

interface Untitled {
  readonly owner: ClientId;
  readonly name: string;
  readonly profile: AgentProfile;
  /** Whose message began it. */
  readonly client: ClientId;
}

/** Most that wait for an idle moment; those beyond keep their first words. */
const MAX_WAITING = 100;
/** Of each side of the conversation. */
const READ_CHARS = 800;
const MAX_OUTPUT_TOKENS = 200;
const TIME_LIMIT_MS = 30_000;

export class Titles {
  readonly #deps: TitleDeps;
  readonly #waiting: Untitled[] = [];
  readonly #stopped = new AbortController();
  #isRunning = false;

  constructor(deps: TitleDeps) {
    this.#deps = deps;
  }

  /** A turn of it is on disk. `profile`: the agent with the model that makes titles. */
  want(untitled: Untitled): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(untitled);
  }

  /** Titles what waits, one by one, until a turn begins. Never rejects. */
  whileIdle(): Promise<void> | undefined {
    return this.#isRunning || this.#waiting.length === 0 ? undefined : this.#titleAll();
  }

  async #titleAll(): Promise<void> {
    const { isIdle, log } = this.#deps;
    this.#isRunning = true;
    while (isIdle() && !this.#stopped.signal.aborted) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      await this.#title(next).catch((error: unknown) => {
        log.debug("a conversation keeps its first words as title", { error: String(error) });
      });
    }
    this.#isRunning = false;
  }

  stop(): void {
    this.#waiting.length = 0;
    this.#stopped.abort();
  }

  async #title({ owner, name, profile, client }: Untitled): Promise<void> {
    const { store, redact, changed } = this.#deps;
    const place = store.sessions.find(owner, name);
    const id = place && store.sessions.idOf(place);
    if (place === undefined || id === undefined || store.sessions.byId(id)?.titledBy !== "words") return;
    const { turns } = store.sessions.turnsBefore(place, 1);
    const said = turns.flatMap((turn) => shownMessages(turn, redact));
    const texts = (["user", "assistant"] as const).map((role) => said.find((one) => one.role === role)?.text ?? "");
    const title = titleIn(redact(await this.#ask({ profile, client }, promptOf(texts))));
    if (title === undefined) return;
    if (await store.write(() => store.sessions.suggestTitle(id, title))) changed(id);
  }

  async #ask({ profile, client }: Pick<Untitled, "profile" | "client">, prompt: string): Promise<string> {
    const { budget, spending, models, clock, timer } = this.#deps;
    budget.check(profile, client);
    const meter = new Meter(profile.model, (usd) => budget.spend(profile.name, client, usd), { client });
    const estimate = () => ({ inputTokens: estimateTokens(prompt), outputTokens: MAX_OUTPUT_TOKENS });
    const onLost = (): void => meter.add({ inputTokens: undefined, outputTokens: undefined }, estimate);
    const limit = new TimeLimit(timer, this.#stopped.signal);
    limit.start(TIME_LIMIT_MS);
    try {
      const model = await models.modelOf(profile);
      const options = {
        prompt: [userMessage(prompt)],
        maxOutputTokens: MAX_OUTPUT_TOKENS,
        abortSignal: limit.signal,
      };
      const answer = await callModel({ model, options, clock, maxRetries: 0, onLost });
      meter.add(answer, estimate);
      return answer.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    } finally {
      limit.end();
      await spending.record(profile, meter);
    }
  }
}

/** The agent as it makes titles; undefined: the model is none that this agent may use. */
export function titleProfile(profile: AgentProfile, titleModel: string): AgentProfile | undefined {
  const model = [profile.model, ...profile.choices].find((one) => modelName(one) === titleModel);
  return model && { ...profile, model };
}

const promptOf = ([asked = "", answered = ""]: readonly string[]): string =>
  `Write a title for this conversation: at most six words, in its language, without quotes. Answer with the title alone.

Person: ${shortened(asked, READ_CHARS)}

Agent: ${shortened(answered, READ_CHARS)}`;

/** One line without quotes and marks of Markdown; undefined: it is no title. */
function titleIn(answer: string): string | undefined {
  const [line = ""] = answer.trim().split("\n");
  const bare = unmarked(line.replace(/^(?:#+\s*|title:\s*)/i, ""));
  if (bare === "" || bare.length > TITLE_CHARS) return undefined;
  try {
    return checkedTitle(bare);
  } catch {
    return undefined;
  }
}

/** Without quotes, marks of Markdown and full stops around it. */
function unmarked(line: string): string {
  const marks = new Set(" \t\r\"'“”«»*_`.");
  let [from, to] = [0, line.length];
  while (from < to && marks.has(line[from]!)) from += 1;
  while (to > from && marks.has(line[to - 1]!)) to -= 1;
  return line.slice(from, to);
}
